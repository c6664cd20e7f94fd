"""Follows shapes and number formats through the body of a jit function, without running it.

Shapes are symbolic: a dimension is the name of a compile-time parameter (``"BLOCK_M"``), a number
as text (``"16"``) or ``"?"``. Formats are Torch names, or ``"*a_ptr"``: whatever that pointer
parameter points at.
"""

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import lru_cache
from typing import Any

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text
from xeforge.source.tile_pointers import pointer_parameters

UNKNOWN = "?"
SCALAR_NUMBER = "number"
"""Format of scalar parameters: an integer or a float, the kernel alone does not tell."""


@dataclass(frozen=True, slots=True)
class Tile:
    """What is known about one value inside a kernel.

    Attributes:
        shape: Symbolic sizes; empty for scalars; None when not known.
        dtype: Format of the elements; None when not known.
        pointer: Pointer parameter that the value points into; None when it is no pointer.
        symbol: Compile-time name or number of a scalar, None for run-time values.
        from_program_id: Whether it depends on which program runs.
    """

    shape: tuple[str, ...] | None = None
    dtype: str | None = None
    pointer: str | None = None
    symbol: str | None = None
    from_program_id: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Dot:
    """One ``tl.dot``: sizes are symbolic as in `Tile`.

    Attributes:
        call: The call.
        m, n, k: Rows and columns of the result, depth of the product.
        left, right: Operands.
    """

    call: cst.Call
    m: str
    n: str
    k: str
    left: cst.BaseExpression
    right: cst.BaseExpression


@dataclass(slots=True, eq=False)
class TileFacts:
    """Everything found out about a kernel.

    Attributes:
        values: Tile of each evaluated expression, by node.
        dots: Products in the order met; each call once.
    """

    values: dict[cst.CSTNode, Tile] = field(default_factory=dict)
    dots: list[Dot] = field(default_factory=list)


NOTHING = Tile()
_MOST_DEPTH = 4
_SAME = frozenset({"advance", "multiple_of", "max_contiguous", "zeros_like", "full_like"})
_REDUCTIONS = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce"})
_MAKES_FLOAT = frozenset({"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sigmoid", "erf", "tanh"})


@lru_cache(maxsize=256)
def follow(tree: KernelTree, jit: Jit) -> TileFacts:
    """Follow all values of a jit function and of the jit functions it calls."""
    facts = TileFacts()
    pointers = pointer_parameters(tree, jit)
    env: Env = {}
    for name in jit.parameters:
        is_pointer = name in pointers
        env[name] = Tile((), f"*{name}", name) if is_pointer else Tile((), SCALAR_NUMBER)
        if name in jit.constexprs:
            env[name] = Tile((), SCALAR_NUMBER, symbol=name)
    _Follower(tree, facts, depth=0).block(jit.node.body, env)
    return facts


Env = dict[str, Tile]


@dataclass(slots=True)
class _Follower:
    tree: KernelTree
    facts: TileFacts
    depth: int
    returned: Tile | None = None

    def block(self, body: cst.BaseSuite, env: Env) -> None:
        for statement in body.body:
            self.statement(statement, env)

    def statement(self, node: cst.CSTNode, env: Env) -> None:
        if isinstance(node, cst.SimpleStatementLine):
            for part in node.body:
                self.simple(part, env)
        elif isinstance(node, cst.For | cst.While):
            if isinstance(node, cst.For):
                self.bind(node.target, replace(self.value(node.iter, env), shape=()), env)
            else:
                self.value(node.test, env)
            # Twice: what the first turn binds is seen by the second (pointers that move on).
            self.block(node.body, env)
            self.block(node.body, env)
        elif isinstance(node, cst.If):
            self.value(node.test, env)
            self.block(node.body, env)
            if isinstance(node.orelse, cst.If):
                self.statement(node.orelse, env)
            elif node.orelse is not None:
                self.block(node.orelse.body, env)

    def simple(self, node: cst.CSTNode, env: Env) -> None:
        if isinstance(node, cst.Assign):
            value = self.value(node.value, env)
            for target in node.targets:
                self.bind_parts(target.target, node.value, value, env)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            self.bind(node.target, self.value(node.value, env), env)
        elif isinstance(node, cst.AugAssign):
            old = self.value(node.target, env)
            self.bind(node.target, _combined(old, self.value(node.value, env)), env)
        elif isinstance(node, cst.Expr):
            self.value(node.value, env)
        elif isinstance(node, cst.Return) and node.value is not None:
            self.returned = self.value(node.value, env)

    def bind_parts(
        self, target: cst.BaseExpression, node: cst.BaseExpression, value: Tile, env: Env
    ) -> None:
        parts = node.elements if isinstance(node, cst.Tuple) else ()
        if isinstance(target, cst.Tuple) and len(target.elements) == len(parts):
            for left, right in zip(target.elements, parts, strict=True):
                self.bind(left.value, self.facts.values.get(right.value, NOTHING), env)
        else:
            self.bind(target, value, env)

    def bind(self, target: cst.BaseExpression, value: Tile, env: Env) -> None:
        if isinstance(target, cst.Name):
            env[target.value] = value
        elif isinstance(target, cst.Tuple | cst.List):
            for each in target.elements:
                self.bind(each.value, replace(NOTHING, from_program_id=value.from_program_id), env)

    def value(self, node: cst.BaseExpression, env: Env) -> Tile:
        """Evaluate an expression and remember the result."""
        found = self.evaluate(node, env)
        self.facts.values[node] = found
        return found

    def evaluate(self, node: cst.BaseExpression, env: Env) -> Tile:
        if isinstance(node, cst.Name):
            return env.get(node.value, NOTHING)
        for kinds, evaluate in _EXPRESSIONS:
            if isinstance(node, kinds):
                return evaluate(self, node, env)
        return NOTHING

    def number(self, node: cst.Integer | cst.Float, _: Env) -> Tile:
        is_whole = isinstance(node, cst.Integer)
        return Tile((), "int32", symbol=node.value) if is_whole else Tile((), "constant")

    def binary(self, node: cst.BinaryOperation | cst.BooleanOperation, env: Env) -> Tile:
        both = _combined(self.value(node.left, env), self.value(node.right, env))
        moves = isinstance(node.operator, cst.Add | cst.Subtract)
        return both if moves else replace(both, pointer=None)

    def unary(self, node: cst.UnaryOperation, env: Env) -> Tile:
        return replace(self.value(node.expression, env), symbol=None)

    def comparison(self, node: cst.Comparison, env: Env) -> Tile:
        sides = [self.value(node.left, env)]
        sides += [self.value(each.comparator, env) for each in node.comparisons]
        return replace(_combined(*sides), dtype="bool", pointer=None)

    def choice(self, node: cst.IfExp, env: Env) -> Tile:
        self.value(node.test, env)
        return _combined(self.value(node.body, env), self.value(node.orelse, env))

    def subscript(self, node: cst.Subscript, env: Env) -> Tile:
        return _indexed(self.value(node.value, env), node)

    def attribute(self, node: cst.Attribute, env: Env) -> Tile:
        base = self.value(node.value, env)
        return _reversed(base) if node.attr.value == "T" else NOTHING

    def parts(self, node: cst.Tuple | cst.List, env: Env) -> Tile:
        parts = [self.value(each.value, env) for each in node.elements]
        return Tile(from_program_id=any(each.from_program_id for each in parts))

    def call(self, node: cst.Call, env: Env) -> Tile:
        given = [self.value(each.value, env) for each in node.args]
        name = language_call(node)
        if name:
            return self.language(name, _CallSite(node, tuple(given), env))
        if isinstance(node.func, cst.Attribute):
            return self.method(node, node.func, given, env)
        jit = self.tree.jits.get(last_name(node.func))
        if jit is not None:
            return self.inline(jit, node, given)
        return replace(_combined(*given), dtype=None) if given else NOTHING

    def method(self, node: cst.Call, func: cst.Attribute, given: list[Tile], env: Env) -> Tile:
        base = self.value(func.value, env)
        if func.attr.value == "to":
            target = argument(node, 0, "dtype")
            return replace(base, dtype=dtype_named(target, env), symbol=None)
        return self.language(func.attr.value, _CallSite(node, (base, *given), env))

    def inline(self, jit: Jit, node: cst.Call, given: list[Tile]) -> Tile:
        if self.depth >= _MOST_DEPTH:
            return NOTHING
        env: Env = dict.fromkeys(jit.parameters, NOTHING)
        free = iter(jit.parameters)
        for each, value in zip(node.args, given, strict=True):
            name = each.keyword.value if each.keyword is not None else next(free, "")
            env[name] = value
        inner = _Follower(self.tree, self.facts, self.depth + 1)
        inner.block(jit.node.body, env)
        return inner.returned or NOTHING

    def language(self, name: str, site: "_CallSite") -> Tile:
        plain = name.rsplit(".", 1)[-1]
        for names, evaluate in _LANGUAGE:
            if plain in names:
                return evaluate(self, plain, site)
        result = _combined(*site.given) if site.given else NOTHING
        is_whole = plain in _MAKES_FLOAT and result.dtype == "int32"
        return replace(result, dtype="float32") if is_whole else replace(result, pointer=None)

    def program(self, name: str, _: "_CallSite") -> Tile:
        return Tile((), "int32", from_program_id=name == "program_id")

    def arange(self, _: str, site: "_CallSite") -> Tile:
        return Tile((_symbol(site.given[1] if len(site.given) > 1 else NOTHING),), "int32")

    def filled(self, name: str, site: "_CallSite") -> Tile:
        shape = self.sizes(argument(site.node, 0, "shape"), site.env)
        position = 1 if name == "zeros" else 2
        return Tile(shape, dtype_named(argument(site.node, position, "dtype"), site.env))

    def reshaped(self, _: str, site: "_CallSite") -> Tile:
        position = 1 if language_call(site.node) else 0
        return replace(
            site.first, shape=self.sizes(argument(site.node, position, "shape"), site.env)
        )

    def block_pointer(self, name: str, site: "_CallSite") -> Tile:
        position = 4 if name == "make_block_ptr" else 3
        sizes = self.sizes(argument(site.node, position, "block_shape"), site.env)
        return replace(site.first, shape=sizes)

    def loaded(self, _: str, site: "_CallSite") -> Tile:
        return replace(site.first, pointer=None)

    def same(self, _: str, site: "_CallSite") -> Tile:
        return site.first

    def transposed(self, _: str, site: "_CallSite") -> Tile:
        return _reversed(site.first)

    def converted(self, _: str, site: "_CallSite") -> Tile:
        return replace(site.first, dtype=dtype_named(argument(site.node, 1, "dtype"), site.env))

    def reduced(self, _: str, site: "_CallSite") -> Tile:
        return _reduced(site.first, site.node)

    def shapeless(self, _: str, site: "_CallSite") -> Tile:
        return replace(site.first, shape=None)

    def where(self, _: str, site: "_CallSite") -> Tile:
        return replace(_combined(*site.given), dtype=_combined(*site.given[1:]).dtype)

    def sizes(self, node: cst.BaseExpression | None, env: Env) -> tuple[str, ...] | None:
        if isinstance(node, cst.Tuple | cst.List):
            return tuple(_symbol(self.value(each.value, env)) for each in node.elements)
        return None if node is None else (_symbol(self.value(node, env)),)

    def dot(self, _: str, site: "_CallSite") -> Tile:
        left, right = argument(site.node, 0, "input"), argument(site.node, 1, "other")
        if left is None or right is None:
            return NOTHING
        first = self.facts.values[left].shape or ()
        m, k = first[-2:] if len(first) > 1 else (UNKNOWN, UNKNOWN)
        second = self.facts.values[right].shape or ()
        depth, n = second[-2:] if len(second) > 1 else (UNKNOWN, UNKNOWN)
        if all(each.call is not site.node for each in self.facts.dots):
            depth = k if k != UNKNOWN else depth
            self.facts.dots.append(Dot(site.node, m, n, depth, left, right))
        wanted = argument(site.node, 6, "out_dtype")
        return Tile((*first[:-2], m, n), dtype_named(wanted, {}) if wanted else "float32")


@dataclass(frozen=True, slots=True, eq=False)
class _CallSite:
    node: cst.Call
    given: tuple[Tile, ...]
    env: Env

    @property
    def first(self) -> Tile:
        return self.given[0] if self.given else NOTHING


_Evaluate = Callable[[_Follower, Any, Env], Tile]
_EXPRESSIONS: tuple[tuple[tuple[type[cst.CSTNode], ...], _Evaluate], ...] = (
    ((cst.Integer, cst.Float), _Follower.number),
    ((cst.BinaryOperation, cst.BooleanOperation), _Follower.binary),
    ((cst.UnaryOperation,), _Follower.unary),
    ((cst.Comparison,), _Follower.comparison),
    ((cst.IfExp,), _Follower.choice),
    ((cst.Subscript,), _Follower.subscript),
    ((cst.Attribute,), _Follower.attribute),
    ((cst.Tuple, cst.List), _Follower.parts),
    ((cst.Call,), _Follower.call),
)
_LANGUAGE: tuple[tuple[frozenset[str], Callable[[_Follower, str, _CallSite], Tile]], ...] = (
    (frozenset({"program_id", "num_programs"}), _Follower.program),
    (frozenset({"arange"}), _Follower.arange),
    (frozenset({"zeros", "full"}), _Follower.filled),
    (frozenset({"reshape", "view", "broadcast_to"}), _Follower.reshaped),
    (frozenset({"make_block_ptr", "make_tensor_descriptor"}), _Follower.block_pointer),
    (frozenset({"load"}), _Follower.loaded),
    (frozenset({"dot", "dot_scaled"}), _Follower.dot),
    (frozenset({"trans"}), _Follower.transposed),
    (frozenset({"cast"}), _Follower.converted),
    (frozenset({"expand_dims"}), _Follower.shapeless),
    (_REDUCTIONS, _Follower.reduced),
    (_SAME, _Follower.same),
    (frozenset({"where"}), _Follower.where),
)


def dtype_named(node: cst.BaseExpression | None, env: Mapping[str, Tile]) -> str | None:
    """Return the format an expression such as ``tl.float16`` or ``x.dtype`` names."""
    if not isinstance(node, cst.Attribute):
        return None
    if text(node).endswith(".dtype.element_ty"):
        base = env.get(text(node).removesuffix(".dtype.element_ty"))
        return None if base is None or base.pointer is None else f"*{base.pointer}"
    if text(node).endswith(".type.element_ty"):
        base = env.get(text(node).removesuffix(".type.element_ty"))
        return None if base is None or base.pointer is None else f"*{base.pointer}"
    if last_name(node) == "dtype":
        base = env.get(text(node.value))
        return None if base is None else base.dtype
    name = last_name(node)
    return name if name.startswith(("float", "bfloat", "int", "uint")) else None


def _symbol(tile: Tile) -> str:
    return tile.symbol or UNKNOWN


def _reversed(tile: Tile) -> Tile:
    return replace(tile, shape=None if tile.shape is None else tile.shape[::-1])


def _reduced(tile: Tile, node: cst.Call) -> Tile:
    position = 1 if language_call(node) else 0
    axis = argument(node, position, "axis")
    if axis is None:
        return replace(tile, shape=())
    if tile.shape is None or not isinstance(axis, cst.Integer):
        return replace(tile, shape=None)
    kept = list(tile.shape)
    index = int(axis.value)
    keeps = argument(node, 9, "keep_dims")
    if index >= len(kept):
        return replace(tile, shape=None)
    if keeps is not None and text(keeps) == "True":
        kept[index] = "1"
    else:
        del kept[index]
    return replace(tile, shape=tuple(kept))


def _indexed(tile: Tile, node: cst.Subscript) -> Tile:
    if tile.shape is None:
        return tile
    shape = list(tile.shape)
    result = []
    for each in node.slice:
        if isinstance(each.slice, cst.Slice):
            result.append(shape.pop(0) if shape else UNKNOWN)
        elif text(each.slice) == "None":
            result.append("1")
        else:
            return replace(tile, shape=None)
    return replace(tile, shape=(*result, *shape), symbol=None)


def _combined(*tiles: Tile) -> Tile:
    known = [each.shape for each in tiles if each.shape is not None]
    shape = known[0] if known else None
    for each in known[1:]:
        shape = _broadcast(shape or (), each)
    pointers = [
        each.pointer for each in tiles if each.pointer is not None and each.shape is not None
    ]
    return Tile(
        shape=shape if len(known) == len(tiles) or shape else None,
        dtype=_promoted([each.dtype for each in tiles], tiles),
        pointer=pointers[0] if pointers else None,
        from_program_id=any(each.from_program_id for each in tiles),
    )


def _broadcast(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    padded = ("1",) * (len(longer) - len(shorter)) + shorter
    return tuple(b if a in {"1", UNKNOWN} else a for a, b in zip(longer, padded, strict=True))


def _promoted(dtypes: list[str | None], tiles: tuple[Tile, ...]) -> str | None:
    pointing = [each.dtype for each in tiles if each.pointer is not None]
    if pointing:
        return pointing[0]
    if any(each.shape != () for each in tiles):
        # A scalar operand never widens a tile.
        dtypes = [each.dtype for each in tiles if each.shape != ()]
    weak = ("constant", SCALAR_NUMBER, "int32", "bool")
    solid = [each for each in dtypes if each not in weak]
    if not solid:
        return next((each for each in weak if each in dtypes), None)
    if "float64" in solid or "float32" in solid:
        return "float64" if "float64" in solid else "float32"
    return solid[0] if len(set(solid)) == 1 else None
