"""What the host does with tensors between launches: which names hold them, who reads them."""

import ast
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from xeforge.source.declarations import JitFunction
from xeforge.source.declarations import LaunchSite
from xeforge.source.host_code import HostFunction
from xeforge.source.imports import ImportTable
from xeforge.source.scopes import own_nodes

VIEWS: Final = frozenset(
    {
        "view",
        "view_as",
        "reshape",
        "flatten",
        "unflatten",
        "squeeze",
        "unsqueeze",
        "contiguous",
        "detach",
        "chunk",
        "split",
        "narrow",
        "expand",
        "expand_as",
    }
)
"""Methods that give (most often) another view of the same memory, its order kept."""
TURNS: Final = frozenset({"t", "transpose", "permute", "T", "mT", "swapaxes", "movedim"})
CASTS: Final = frozenset({"float", "half", "bfloat16", "double"})
_SHAPES: Final = frozenset({"shape", "dtype", "device", "ndim", "stride", "size", "numel", "dim"})
_DTYPES: Final = ("float16", "bfloat16", "float32", "float64", "half", "float", "double")


@dataclass(frozen=True, slots=True, eq=False)
class HostLaunch:
    """One launch as the host function around it sees it.

    Attributes:
        site: The launch.
        kernel: What is launched.
        arguments: By parameter name.
    """

    site: LaunchSite
    kernel: JitFunction
    arguments: Mapping[str, ast.expr]


@dataclass(eq=False)
class HostScope:
    """One host function.

    Attributes:
        function: The function.
        bindings: Expressions bound to each plain name, with the last line of each, in order.
        launches: Launches that stand in it, in order.
        is_entry: It is ``Model.forward`` itself.
    """

    function: HostFunction
    bindings: Mapping[str, tuple[tuple[ast.expr, int], ...]]
    launches: tuple[HostLaunch, ...]
    is_entry: bool

    def value(self, node: ast.expr, line: int) -> ast.expr:
        """Follow a plain name to the expression last bound to it before a line."""
        for _ in range(8):
            if not isinstance(node, ast.Name):
                return node
            found = [each for each in self.bindings.get(node.id, ()) if each[1] < line]
            if not found:
                return node
            node, line = found[-1]
        return node

    def root(self, node: ast.expr, line: int) -> str | None:
        """Return the name of the tensor that an expression is, or is a view of.

        ``"self.weight"`` for attributes, a local name for what is made in the function.
        """
        for _ in range(16):
            inner = _viewed(node)
            if inner is not None:
                node = inner
                continue
            if isinstance(node, ast.Attribute):
                return ast.unparse(node)
            if not isinstance(node, ast.Name):
                return None
            found = [each for each in self.bindings.get(node.id, ()) if each[1] < line]
            if not found or _viewed(found[-1][0]) is None:
                if found and isinstance(found[-1][0], ast.Name | ast.Attribute):
                    node, line = found[-1]
                    continue
                return node.id
            node, line = found[-1]
        return None

    def reaching(self, name: str, line: int) -> frozenset[str]:
        """Return a name bound at a line and all names computed from its contents later on."""
        found = {name}
        every = [
            (at, target, value) for target, values in self.bindings.items() for value, at in values
        ]
        for at, target, value in sorted(every, key=lambda each: each[0]):
            if at > line and found & contents_used(value):
                found.add(target)
        return frozenset(found)

    def reaches_launch(self, node: ast.expr) -> bool:
        """Say whether the contents of what an expression makes get into a launch."""
        names = {
            name
            for name, bound in self.bindings.items()
            for value, _ in bound
            if any(each is node for each in ast.walk(value))
        }
        reached: frozenset[str] = frozenset()
        for name in names:
            reached |= self.reaching(name, node.lineno)
        text = ast.unparse(node)
        return any(
            contents_used(value) & reached or text in ast.unparse(value)
            for launch in self.launches
            if launch.site.end_line >= node.lineno
            for value in launch.arguments.values()
        )

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes of the function, outer before inner."""
        return tuple(own_nodes(self.function.node))


def _viewed(node: ast.expr) -> ast.expr | None:
    """Return the tensor that an expression is a view of; None when it is none."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in VIEWS:
            return owner
        case ast.Call(func=ast.Attribute(attr="from_tensor"), args=[first, *_]):
            return first
        case ast.Call(func=ast.Name(), args=[ast.Name() as first]):
            return first  # a local helper that wraps a tensor
        case ast.Subscript(value=value):
            return value
        case _:
            return None


def contents_used(node: ast.AST) -> frozenset[str]:
    """Return the names whose contents an expression uses; shapes and strides do not count."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Attribute) and each.attr in _SHAPES:
            continue
        if isinstance(each, ast.Name):
            found.add(each.id)
        waiting += ast.iter_child_nodes(each)
    return frozenset(found)


def read_scope(
    function: HostFunction, launches: tuple[HostLaunch, ...], *, is_entry: bool
) -> HostScope:
    """Read a host function."""
    found: dict[str, list[tuple[ast.expr, int]]] = {}
    for node in own_nodes(function.node):
        if not isinstance(node, ast.Assign | ast.NamedExpr):
            continue
        # Bound from its last line on: a name inside the value still means what it did before.
        line = node.end_lineno or node.lineno
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for name, value in _parts(target, node.value):
                found.setdefault(name, []).append((value, line))
    ordered = {name: tuple(sorted(each, key=lambda e: e[1])) for name, each in found.items()}
    own = tuple(each for each in launches if each.site.function == function.name)
    return HostScope(function, ordered, own, is_entry)


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        for position, each in enumerate(target.elts):
            # Of an unpacked call every name is a part of the whole.
            part = parts[position] if len(parts) == len(target.elts) else value
            yield from _parts(each, part)


def is_cast(node: ast.AST, imports: ImportTable) -> bool:
    """Say whether a node is ``x.float()``, ``x.to(torch.float16)`` and the like."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if node.func.attr in CASTS and not node.args:
        return True
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "dtype")]
    is_to = node.func.attr in {"to", "type"}
    return is_to and any(imports.is_torch(each, *_DTYPES) for each in given)


def product_operands(node: ast.AST, imports: ImportTable) -> tuple[ast.expr, ast.expr] | None:
    """Return the operands of a matrix product of the library; None for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    if not isinstance(node, ast.Call):
        return None
    names = ("matmul", "mm", "bmm", "mv", "nn.functional.linear")
    if imports.is_torch(node.func, *names) and len(node.args) >= 2:  # noqa: PLR2004
        return node.args[0], node.args[1]
    if isinstance(node.func, ast.Attribute) and node.func.attr in {"matmul", "mm", "bmm", "mv"}:
        owner = node.func.value
        if len(node.args) == 1 and imports.dotted(owner) != "torch":
            return owner, node.args[0]
    return None


def torch_call(node: ast.AST, imports: ImportTable) -> str:
    """Return the last part of a called torch function, ``"softmax"``; empty for other nodes."""
    if not isinstance(node, ast.Call):
        return ""
    dotted = imports.dotted(node.func) or ""
    return dotted.rpartition(".")[2] if dotted.startswith("torch.") else ""


def input_names(scopes: Collection[HostScope]) -> Mapping[str, frozenset[str]]:
    """Return, for each host function, the names that hold inputs of ``forward`` when it starts."""
    found: dict[str, set[str]] = {
        each.function.name: set(each.function.parameters[1:]) if each.is_entry else set()
        for each in scopes
    }
    calls = list(_calls(scopes))
    for _ in scopes:  # as many rounds as a chain of calls can be long
        known = sum(len(names) for names in found.values())
        for scope, call, target in calls:
            names = [each for each in target.function.parameters if each != "self"]
            for name, value in zip(names, call.args, strict=False):
                if scope.root(value, call.lineno) in found[scope.function.name]:
                    found[target.function.name].add(name)
        if known == sum(len(names) for names in found.values()):
            break
    return {name: frozenset(names) for name, names in found.items()}


def _calls(scopes: Collection[HostScope]) -> Iterator[tuple[HostScope, ast.Call, HostScope]]:
    """Yield calls of host functions by others: caller, call, called."""
    by_name = {each.function.name.rpartition(".")[2]: each for each in scopes}
    for scope in scopes:
        for node in scope.nodes:
            target = by_name.get(_called(node)) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and target is not None and not target.is_entry:
                yield scope, node, target


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""
