"""Finds the integer literal that a launch argument finally stands for, wherever it is bound."""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.kernel_tree import bindings
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk

_MOST_HOPS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One literal that decides a value.

    Attributes:
        literal: The node to replace.
        kind: ``"literal"`` at the launch itself, ``"local"``, ``"module"``, ``"class"``,
            ``"default"`` of a host function, ``"jit_default"``, ``"config"`` of an autotuner.
    """

    literal: cst.Integer
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    function: cst.FunctionDef | None
    owner: cst.ClassDef | None


def resolve(tree: KernelTree, launch: Launch, argument: cst.BaseExpression) -> Binding | None:
    """Return the literal behind a launch argument; None when it is computed at run time."""
    scope = _Scope(launch.function, launch.owner)
    return _resolve(tree, scope, argument, "literal", _MOST_HOPS)


def _resolve(
    tree: KernelTree, scope: _Scope, node: cst.BaseExpression | None, kind: str, hops: int
) -> Binding | None:
    if node is None or hops == 0:
        return None
    if isinstance(node, cst.Integer):
        return Binding(node, kind)
    if isinstance(node, cst.Name):
        return _resolve_name(tree, scope, node.value, hops - 1)
    if isinstance(node, cst.Attribute):
        return _resolve_attribute(tree, scope, node, hops - 1)
    if isinstance(node, cst.Call) and last_name(node.func) == "constexpr" and len(node.args) == 1:
        return _resolve(tree, scope, node.args[0].value, kind, hops - 1)
    return None


def _resolve_name(tree: KernelTree, scope: _Scope, name: str, hops: int) -> Binding | None:
    function = scope.function
    while function is not None:
        values = assignments(function, name)
        is_parameter = any(each.name.value == name for each in _parameters(function))
        if values:
            # A name that is a parameter and assigned again has two meanings: leave it alone.
            single = len(values) == 1 and not is_parameter
            here = _Scope(function, scope.owner)
            return _resolve(tree, here, values[0], "local", hops) if single else None
        if is_parameter:
            return _resolve_parameter(tree, scope, function, name, hops)
        place = tree.place(function)
        function = None if place is None else place.outer
    return _resolve_constant(tree, name, hops)


def _resolve_constant(tree: KernelTree, name: str, hops: int) -> Binding | None:
    values = [value for bound, value in _module_bindings(tree) if bound == name]
    is_rebound = any(
        isinstance(node, cst.NameItem) and text(node.name) == name for node in walk(tree.module)
    )
    if len(values) != 1 or is_rebound:
        return None
    return _resolve(tree, _Scope(None, None), values[0], "module", hops)


def _module_bindings(tree: KernelTree) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    for statement in tree.module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            for part in statement.body:
                yield from bindings(part)
        elif not isinstance(statement, cst.FunctionDef | cst.ClassDef):
            # Bound below ``if``/``try``/``with``: not a constant that can be trusted.
            for node in walk(statement):
                yield from ((name, None) for name, _ in bindings(node))


def _resolve_parameter(
    tree: KernelTree, scope: _Scope, function: cst.FunctionDef, name: str, hops: int
) -> Binding | None:
    default = next(
        (each.default for each in _parameters(function) if each.name.value == name), None
    )
    calls = list(_calls_of(tree, function))
    given = [value for call, _ in calls if (value := _passed(function, call, name)) is not None]
    if not given:
        # What `forward` and constructors take is decided by whoever calls the model.
        is_public = scope.owner is not None and function.name.value in {"forward", "__init__"}
        is_public = is_public or any(_has_star(call) for call, _ in calls)
        return None if is_public else _resolve(tree, scope, default, "default", hops)
    if len(calls) != 1:
        return None
    _, caller = calls[0]
    return _resolve(tree, caller, given[0], "local", hops)


def _calls_of(tree: KernelTree, function: cst.FunctionDef) -> Iterator[tuple[cst.Call, _Scope]]:
    home = tree.place(function)
    for place in tree.places:
        for node in walk(place.node.body):
            if isinstance(node, cst.Call) and last_name(node.func) == function.name.value:
                is_method = home is not None and home.owner is not None
                if isinstance(node.func, cst.Attribute) == is_method:
                    yield node, _Scope(place.node, place.owner)


def _passed(function: cst.FunctionDef, call: cst.Call, name: str) -> cst.BaseExpression | None:
    names = [each.name.value for each in _parameters(function)]
    if isinstance(call.func, cst.Attribute) and names and names[0] in {"self", "cls"}:
        names = names[1:]
    free = iter(names)
    for each in call.args:
        bound = each.keyword.value if each.keyword is not None else next(free, None)
        if bound == name and not each.star:
            return each.value
    return None


def _has_star(call: cst.Call) -> bool:
    return any(each.star for each in call.args)


def _parameters(function: cst.FunctionDef) -> tuple[cst.Param, ...]:
    params = function.params
    return (*params.posonly_params, *params.params, *params.kwonly_params)


def _resolve_attribute(
    tree: KernelTree, scope: _Scope, node: cst.Attribute, hops: int
) -> Binding | None:
    base, attribute = text(node.value), node.attr.value
    if base in {"self", "cls", "type(self)", "self.__class__"}:
        owner = scope.owner
    else:
        owner = tree.classes.get(base)
    if owner is None:
        return None
    values = [
        (value, "class", _Scope(None, owner))
        for statement in owner.body.body
        if isinstance(statement, cst.SimpleStatementLine)
        for part in statement.body
        for name, value in bindings(part)
        if name == attribute
    ]
    for place in tree.places:
        if place.owner is owner:
            inside = _Scope(place.node, owner)
            names = (f"self.{attribute}", f"cls.{attribute}", f"{owner.name.value}.{attribute}")
            for name in names:
                found = assignments(place.node, name)
                values.extend((value, "class", inside) for value in found)
    if len(values) != 1:
        return None
    value, kind, inside = values[0]
    return _resolve(tree, inside, value, kind, hops)
