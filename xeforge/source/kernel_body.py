"""The body of a jit function in program order: what is bound where, which calls are in which loop.

Names are followed by where they stand: a use sees the last binding before it, which is right for
straight code and for what loops carry along; both arms of a branch count as passed.
"""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property

from xeforge.source.imports import ImportTable
from xeforge.source.scopes import FunctionNode

Loop = ast.For | ast.While
_METHODS = frozenset(
    {"load", "store", "sum", "max", "min", "trans", "permute", "exp", "log", "sqrt", "sigmoid"}
)
"""Methods of tiles and descriptors that mean the same as the function of that name."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where something stands.

    Attributes:
        index: Number of the statement in program order.
        loops: Loops around it, outermost first.
        branches: Arms of branches around it, as identities, outermost first.
    """

    index: int
    loops: tuple[Loop, ...]
    branches: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One binding of a name.

    Attributes:
        name: What is bound.
        value: To which expression; None: a loop variable, or a part of something unpacked.
        place: Where.
        line: One-based line.
        is_step: By ``+=`` and the like; `value` is then the whole sum.
        whole: What was unpacked, for one of several parts; None otherwise.
    """

    name: str
    value: ast.expr | None
    place: Place
    line: int
    is_step: bool = False
    whole: ast.expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call into Triton's language, or of a method of a tile or descriptor.

    Attributes:
        name: Last part, e.g. ``"load"``.
        node: The call.
        first: First argument, or what a method belongs to; None when there is none.
        place: Where.
        is_method: ``desc.load(...)`` instead of ``tl.load(...)``.
    """

    name: str
    node: ast.Call
    first: ast.expr | None
    place: Place
    is_method: bool

    @property
    def line(self) -> int:
        """One-based line."""
        return self.node.lineno

    def argument(self, position: int, keyword: str) -> ast.expr | None:
        """Return an argument of a function call by keyword or position."""
        for each in self.node.keywords:
            if each.arg == keyword:
                return each.value
        plain = self.node.args
        return plain[position] if position < len(plain) else None


@dataclass(eq=False)
class KernelBody:
    """What stands in one jit function.

    Attributes:
        node: Its syntax tree.
        imports: Of the file.
        bindings: All bindings in program order.
        calls: All calls in program order.
        loops: All loops with their places (which do not contain themselves).
        statements: All statements in program order.
        plain_calls: Calls of plain names, such as helper functions.
        expressions: Every expression of every statement, of compound ones those of the head.
    """

    node: FunctionNode
    imports: ImportTable
    bindings: list[Binding] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    loops: list[tuple[Loop, Place]] = field(default_factory=list)
    statements: list[tuple[ast.stmt, Place]] = field(default_factory=list)
    plain_calls: list[tuple[ast.Call, Place]] = field(default_factory=list)
    expressions: list[tuple[ast.expr, Place]] = field(default_factory=list)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of all parameters."""
        given = self.node.args
        return frozenset(a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))

    @cached_property
    def by_name(self) -> Mapping[str, list[Binding]]:
        """Bindings of each name, in program order."""
        found: dict[str, list[Binding]] = {}
        for each in self.bindings:
            found.setdefault(each.name, []).append(each)
        return found

    def named(self, *names: str) -> list[Call]:
        """Return the calls with one of these names."""
        return [each for each in self.calls if each.name in names]

    @cached_property
    def iterated(self) -> Mapping[str, list[tuple[ast.expr, int]]]:
        """What each loop variable runs over, and where."""
        found: dict[str, list[tuple[ast.expr, int]]] = {}
        for loop, place in self.loops:
            if isinstance(loop, ast.For):
                for each in ast.walk(loop.target):
                    if isinstance(each, ast.Name):
                        found.setdefault(each.id, []).append((loop.iter, place.index))
        return found

    def before(self, name: str, index: int) -> Binding | None:
        """Return the last binding of a name before a statement; None: a parameter or unknown."""
        found = [each for each in self.by_name.get(name, ()) if each.place.index < index]
        return found[-1] if found else None

    def value_of(self, node: ast.expr, index: int) -> tuple[ast.expr, int]:
        """Follow a plain name to the expression behind it, as far as that is certain."""
        for _ in range(8):
            found = self.before(node.id, index) if isinstance(node, ast.Name) else None
            if found is None or found.value is None or found.is_step:
                break
            node, index = found.value, found.place.index
        return node, index

    def bound_in(self, loop: Loop) -> frozenset[str]:
        """Return the names that a loop binds, its own variable included."""
        return frozenset(each.name for each in self.bindings if loop in each.place.loops)

    def sources(self, node: ast.expr, index: int) -> frozenset[str]:
        """Return every name an expression depends on, through bindings; calls as ``"name()"``."""
        found: set[str] = set()
        waiting: list[tuple[ast.AST, int]] = [(node, index)]
        while waiting:
            current, place = waiting.pop()
            for each in ast.walk(current):
                if isinstance(each, ast.Call):
                    name = self.name_of(each)
                    if self.imports.is_triton(each.func, name):
                        found.add(f"{name}()")
                if not (isinstance(each, ast.Name) and each.id not in found):
                    continue
                found.add(each.id)
                for bound in self.by_name.get(each.id, ()):
                    value = bound.whole if bound.value is None else bound.value
                    if value is not None and bound.place.index < place:
                        waiting.append((value, bound.place.index))
                waiting += self.iterated.get(each.id, ())
        return frozenset(found)

    def name_of(self, call: ast.Call) -> str:
        """Return the last part of what is called, ``"exp"`` also where it was imported as ``e``."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr
        return (self.imports.dotted(call.func) or "").rpartition(".")[2]

    def place_of(self, loop: Loop) -> Place:
        """Return where a loop stands."""
        return next(place for each, place in self.loops if each is loop)


def read_body(node: FunctionNode, imports: ImportTable) -> KernelBody:
    """Read a jit function."""
    body = KernelBody(node, imports)
    _Reader(body).block(node.body, (), ())
    return body


@dataclass(slots=True)
class _Reader:
    body: KernelBody
    index: int = 0

    def block(
        self, block: list[ast.stmt], loops: tuple[Loop, ...], branches: tuple[int, ...]
    ) -> None:
        for each in block:
            self.statement(each, Place(self.index, loops, branches))

    def statement(self, node: ast.stmt, place: Place) -> None:
        self.index += 1
        self.body.statements.append((node, place))
        if isinstance(node, ast.For | ast.While):
            self.loop(node, place)
        elif isinstance(node, ast.If):
            self.calls(node.test, place)
            self.block(node.body, place.loops, (*place.branches, id(node.body)))
            self.block(node.orelse, place.loops, (*place.branches, id(node.orelse)))
        elif isinstance(node, ast.With):
            self.block(node.body, place.loops, place.branches)
        else:
            self.calls(node, place)
            self.body.bindings += _bindings(node, place)

    def loop(self, node: Loop, place: Place) -> None:
        self.body.loops.append((node, place))
        if isinstance(node, ast.For):
            self.calls(node.iter, place)
            inside = Place(place.index, (*place.loops, node), place.branches)
            for each in ast.walk(node.target):
                if isinstance(each, ast.Name):
                    self.body.bindings.append(Binding(each.id, None, inside, node.lineno))
        else:
            self.calls(node.test, place)
        self.block(node.body, (*place.loops, node), place.branches)

    def calls(self, node: ast.AST, place: Place) -> None:
        inside = [each for each in ast.walk(node) if isinstance(each, ast.expr)]
        self.body.expressions += [(each, place) for each in inside]
        found = [call for each in inside if (call := self.call(each, place)) is not None]
        self.body.calls += sorted(found, key=lambda e: (e.node.lineno, e.node.col_offset))

    def call(self, node: ast.AST, place: Place) -> Call | None:
        if not isinstance(node, ast.Call):
            return None
        name = self.body.name_of(node)
        if self.body.imports.is_triton(node.func, name):
            first = node.args[0] if node.args else None
            if first is None and node.keywords:
                first = node.keywords[0].value
            return Call(name, node, first, place, is_method=False)
        if isinstance(node.func, ast.Attribute) and name in _METHODS:
            return Call(name, node, node.func.value, place, is_method=True)
        if isinstance(node.func, ast.Name):
            self.body.plain_calls.append((node, place))
        return None


def _bindings(node: ast.stmt, place: Place) -> Iterator[Binding]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, node.value, place, node.lineno)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield Binding(node.target.id, node.value, place, node.lineno)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        whole = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
        yield Binding(node.target.id, whole, place, node.lineno, is_step=True)


def _unpacked(target: ast.expr, value: ast.expr, place: Place, line: int) -> Iterator[Binding]:
    if isinstance(target, ast.Name):
        yield Binding(target.id, value, place, line)
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        if len(parts) == len(target.elts):
            for one, part in zip(target.elts, parts, strict=True):
                yield from _unpacked(one, part, place, line)
        else:
            for each in ast.walk(target):
                if isinstance(each, ast.Name):
                    yield Binding(each.id, None, place, line, whole=value)
