"""Which functions run on the host when ``forward`` is called, and what their names stand for."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.source.declarations import KernelContents
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import bindings_of
from xeforge.source.scopes import functions_in
from xeforge.source.scopes import own_nodes


@dataclass(frozen=True, slots=True)
class HostFunction:
    """One function of the host side.

    Attributes:
        name: Qualified name, e.g. ``"Model.forward"``.
        node: Its syntax tree.
    """

    name: str
    node: FunctionNode

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the positional parameters, ``self`` included."""
        return tuple(each.arg for each in (*self.node.args.posonlyargs, *self.node.args.args))


def host_functions(tree: ast.Module, contents: KernelContents) -> tuple[HostFunction, ...]:
    """Return ``Model.forward`` and everything of the file that it may call, itself first."""
    kernels = {each.name for each in contents.jit_functions}
    every = {
        name: HostFunction(name, node)
        for name, node in functions_in(tree)
        if name.rpartition(".")[2] not in kernels
    }
    methods = _model_methods(every, contents)
    # Submodules defined in the file run inside forward, called through an attribute.
    inner = [f"{each}.forward" for each in _constructed(every, methods, contents)]
    found: dict[str, HostFunction] = {}
    waiting = [*filter(None, [methods.get("forward")]), *inner]
    while waiting:
        name = waiting.pop(0)
        if name in every and name not in found:
            found[name] = every[name]
            waiting += _called(every[name], methods, contents)
    return tuple(found.values())


def _model_methods(
    every: Mapping[str, HostFunction], contents: KernelContents
) -> Mapping[str, str]:
    """Return the qualified name of each method of the model, inherited ones included."""
    if contents.model is None:
        return {}
    lines = {each.line: each.name for each in contents.model.methods}
    return {
        lines[each.node.lineno]: name for name, each in every.items() if each.node.lineno in lines
    }


def _constructed(
    every: Mapping[str, HostFunction], methods: Mapping[str, str], contents: KernelContents
) -> list[str]:
    """Return the classes of the file that the model's constructor makes objects of."""
    if "__init__" not in methods:
        return []
    constructor = every[methods["__init__"]].node
    called = [each.func for each in ast.walk(constructor) if isinstance(each, ast.Call)]
    return [
        each.id for each in called if isinstance(each, ast.Name) and each.id in contents.classes
    ]


def _called(
    function: HostFunction, methods: Mapping[str, str], contents: KernelContents
) -> Iterator[str]:
    owner = function.name.rpartition(".")[0]
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Call):
            continue
        target = node.func
        if isinstance(target, ast.Name):
            yield from (target.id, f"{function.name}.{target.id}")
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            holder = target.value.id
            if holder in {"self", "cls"}:
                own = f"{owner}.{target.attr}"
                yield methods.get(target.attr, own) if function.name in methods.values() else own
            elif target.attr == "apply" and holder in contents.classes:
                yield f"{holder}.forward"
            else:
                yield f"{holder}.{target.attr}"


def local_values(
    function: FunctionNode, constants: Mapping[str, object]
) -> Mapping[str, ast.expr | object]:
    """Return what names mean in a function as far as one meaning is certain.

    A name bound once in the function stands for its expression, one of the module level for its
    constant. Unpacked pairs such as ``BLOCK_M, BLOCK_N = 64, 128`` count, parameters do not.
    """
    found: dict[str, ast.expr | object] = dict(constants)
    counts: dict[str, list[ast.expr | None]] = {}
    for node in own_nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts.setdefault(node.id, []).append(None)
    values = {name: bound for name, bound in bindings_of(function).items() if len(bound) == 1}
    for node in own_nodes(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and len(target.elts) == len(node.value.elts):
                    pairs = zip(target.elts, node.value.elts, strict=True)
                    values |= {one.id: [part] for one, part in pairs if isinstance(one, ast.Name)}
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        found.pop(each.arg, None)
    for name, bound in counts.items():
        found.pop(name, None)
        if len(bound) == 1 and name in values and isinstance(values[name][0], ast.expr):
            found[name] = values[name][0]
    return found


def integer(node: ast.expr, values: Mapping[str, ast.expr | object], depth: int = 0) -> int | None:
    """Return the integer an expression certainly has; None when that is not certain."""
    if isinstance(node, ast.Constant):
        is_integer = isinstance(node.value, int) and not isinstance(node.value, bool)
        return node.value if is_integer and isinstance(node.value, int) else None
    if isinstance(node, ast.Name) and node.id in values and depth < len(values):
        value = values[node.id]
        if isinstance(value, ast.expr):
            return integer(value, values, depth + 1)
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    return None
