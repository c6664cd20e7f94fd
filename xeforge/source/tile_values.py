"""Follows shapes and number formats through the body of a jit function, without running it.

Shapes are symbolic: a dimension is the name of a compile-time parameter (``"BLOCK_M"``), a number
as text (``"16"``) or ``"?"``. Formats are Torch names, or ``"*a_ptr"``: whatever that pointer
parameter points at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from functools import lru_cache
from typing import Any

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.tile_pointers import pointer_parameters
from xeforge.source.tile_types import NOTHING
from xeforge.source.tile_types import SCALAR_NUMBER
from xeforge.source.tile_types import UNKNOWN
from xeforge.source.tile_types import Dot
from xeforge.source.tile_types import Tile
from xeforge.source.tile_types import TileFacts
from xeforge.source.tile_types import combined
from xeforge.source.tile_types import dtype_named
from xeforge.source.tile_types import indexed
from xeforge.source.tile_types import reduced
from xeforge.source.tile_types import reversed_axes
from xeforge.source.tile_types import symbol_of

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
            env[name] = Tile((), "int32", symbol=name)
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
            self.bind(node.target, combined(old, self.value(node.value, env)), env)
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
        both = combined(self.value(node.left, env), self.value(node.right, env))
        moves = isinstance(node.operator, cst.Add | cst.Subtract)
        return both if moves else replace(both, pointer=None)

    def unary(self, node: cst.UnaryOperation, env: Env) -> Tile:
        return replace(self.value(node.expression, env), symbol=None)

    def comparison(self, node: cst.Comparison, env: Env) -> Tile:
        sides = [self.value(node.left, env)]
        sides += [self.value(each.comparator, env) for each in node.comparisons]
        return replace(combined(*sides), dtype="bool", pointer=None)

    def choice(self, node: cst.IfExp, env: Env) -> Tile:
        self.value(node.test, env)
        return combined(self.value(node.body, env), self.value(node.orelse, env))

    def subscript(self, node: cst.Subscript, env: Env) -> Tile:
        return indexed(self.value(node.value, env), node)

    def attribute(self, node: cst.Attribute, env: Env) -> Tile:
        base = self.value(node.value, env)
        return reversed_axes(base) if node.attr.value == "T" else NOTHING

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
        return replace(combined(*given), dtype=None) if given else NOTHING

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
        result = combined(*site.given) if site.given else NOTHING
        is_whole = plain in _MAKES_FLOAT and result.dtype == "int32"
        return replace(result, dtype="float32") if is_whole else replace(result, pointer=None)

    def program(self, name: str, _: "_CallSite") -> Tile:
        return Tile((), "int32", from_program_id=name == "program_id")

    def arange(self, _: str, site: "_CallSite") -> Tile:
        return Tile((symbol_of(site.given[1] if len(site.given) > 1 else NOTHING),), "int32")

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
        return reversed_axes(site.first)

    def converted(self, _: str, site: "_CallSite") -> Tile:
        return replace(site.first, dtype=dtype_named(argument(site.node, 1, "dtype"), site.env))

    def reduced(self, _: str, site: "_CallSite") -> Tile:
        return reduced(site.first, site.node)

    def shapeless(self, _: str, site: "_CallSite") -> Tile:
        return replace(site.first, shape=None)

    def where(self, _: str, site: "_CallSite") -> Tile:
        return replace(combined(*site.given), dtype=combined(*site.given[1:]).dtype)

    def sizes(self, node: cst.BaseExpression | None, env: Env) -> tuple[str, ...] | None:
        if isinstance(node, cst.Tuple | cst.List):
            return tuple(symbol_of(self.value(each.value, env)) for each in node.elements)
        return None if node is None else (symbol_of(self.value(node, env)),)

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
