"""Reads the configuration list of ``@triton.autotune`` and pins it to one entry."""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import bindings
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import closed
from xeforge.source.syntax_tree import integer
from xeforge.source.syntax_tree import keyword_argument
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text

OPTIONS = ("num_warps", "num_stages")
_MOST_HOPS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Config:
    """One ``triton.Config`` of a list.

    Attributes:
        call: The call, with the values of a comprehension put in.
        values: Integers by name; ``num_warps`` and ``num_stages`` among them when given.
    """

    call: cst.Call
    values: Mapping[str, int]


def read_configs(tree: KernelTree, jit: Jit) -> tuple[Config, ...]:
    """Return the configurations of an autotuned kernel; empty when the list is not understood."""
    if jit.autotune is None:
        return ()
    listed = argument(jit.autotune, 0, "configs")
    return () if listed is None else tuple(_configs(tree, listed, _MOST_HOPS))


def pinned(config: Config, values: Mapping[str, int]) -> cst.List:
    """Return a list of one configuration with some values changed, everything else kept."""
    return cst.List([cst.Element(_with_values(config.call, values))])


def _configs(tree: KernelTree, node: cst.BaseExpression, hops: int) -> Iterator[Config]:
    if hops == 0:
        return
    if isinstance(node, cst.Call) and last_name(node.func) == "Config":
        yield _read(node)
    elif isinstance(node, cst.ListComp) and isinstance(node.elt, cst.Call):
        for chosen in _turns(tree, node.for_in):
            yield _read(_with_names(node.elt, chosen))
    else:
        for part in _parts(tree, node):
            yield from _configs(tree, part, hops - 1)


def _parts(tree: KernelTree, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.List | cst.Tuple):
        yield from (each.value for each in node.elements)
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield from (node.left, node.right)
    elif isinstance(node, cst.Name):
        yield from _constants(tree, node.value)
    elif isinstance(node, cst.Call) and not node.args:
        yield from _returned(tree, node)


def _constants(tree: KernelTree, wanted: str) -> Iterator[cst.BaseExpression]:
    for statement in tree.module.body:
        for part in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            for name, value in bindings(part):
                if name == wanted and value is not None:
                    yield value


def _returned(tree: KernelTree, node: cst.Call) -> Iterator[cst.BaseExpression]:
    place = tree.function(last_name(node.func))
    for line in () if place is None else place.node.body.body:
        for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(part, cst.Return) and part.value is not None:
                yield part.value


def _turns(tree: KernelTree, loop: cst.CompFor) -> Iterator[dict[str, int]]:
    names: list[str] = []
    choices: list[tuple[int, ...]] = []
    level: cst.CompFor | None = loop
    while level is not None:
        if not isinstance(level.target, cst.Name):
            return
        names.append(level.target.value)
        choices.append(_numbers(tree, level.iter))
        level = level.inner_for_in
    for chosen in product(*choices):
        yield dict(zip(names, chosen, strict=True))


def _numbers(tree: KernelTree, node: cst.BaseExpression) -> tuple[int, ...]:
    if isinstance(node, cst.List | cst.Tuple):
        values = [integer(each.value) for each in node.elements]
        return tuple(each for each in values if each is not None)
    if isinstance(node, cst.Name):
        return next((_numbers(tree, value) for value in _constants(tree, node.value)), ())
    return ()


def _with_names(call: cst.Call, chosen: Mapping[str, int]) -> cst.Call:
    changes: dict[cst.CSTNode, Replacement] = {
        name: _number(chosen[name.value])
        for each in call.args
        for name in loaded_names(each)
        if name.value in chosen
    }
    return replace(call, changes)


def _number(value: int) -> Replacement:
    return lambda _: cst.Integer(str(value))


def _read(call: cst.Call) -> Config:
    values: dict[str, int] = {}
    table = argument(call, 0, "kwargs")
    if isinstance(table, cst.Dict):
        for each in table.elements:
            if isinstance(each, cst.DictElement):
                number = integer(each.value)
                if number is not None:
                    values[text(each.key).strip("'\"")] = number
    for option, position in zip(OPTIONS, (1, 2), strict=True):
        number = integer(argument(call, position, option))
        if number is not None:
            values[option] = number
    return Config(call, values)


def _with_values(call: cst.Call, values: Mapping[str, int]) -> cst.Call:
    table = argument(call, 0, "kwargs")
    changes: dict[cst.CSTNode, Replacement] = {}
    if isinstance(table, cst.Dict):
        for each in table.elements:
            if isinstance(each, cst.DictElement):
                name = text(each.key).strip("'\"")
                if name in values:
                    changes[each.value] = _number(values[name])
    added = []
    for option, position in zip(OPTIONS, (1, 2), strict=True):
        old = argument(call, position, option)
        if option in values and old is not None:
            changes[old] = _number(values[option])
        elif option in values:
            added.append(keyword_argument(option, values[option]))
    changed = replace(call, changes)
    return changed.with_changes(args=[*closed(changed.args), *added]) if added else changed
