"""A program under construction: collects arrays and statements, one per step of an operator."""

from collections.abc import Callable
from collections.abc import Sequence

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import axis
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.functions import cast
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Monoid
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Role
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.value import whole

_PARALLEL = "ijklmnopq"
_REDUCED = "rstuvwxyz"


class Draft:
    """Grows one program; every array is written by the statement that declares it."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.statements: list[Stmt] = []
        self.values: dict[str, Value] = {}
        self.notes: list[str] = []
        self._taken: set[str] = set()

    def given(self, name: str, shape: tuple[int, ...], dtype: str, role: Role) -> Value:
        """Declare an array that the caller passes."""
        self._taken.add(name)
        self.arrays.append(Array(name, shape, dtype, role))
        return whole(name, shape, dtype)

    def reserve(self, names: Sequence[str]) -> None:
        """Keep names for nodes, so that no step of an earlier operator takes them."""
        self._taken.update(names)

    def value(self, ref: Ref) -> Value:
        """Return what a reference stands for."""
        return self.values[ref.name]

    def pointwise(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        body: Callable[[At], Expr],
    ) -> Value:
        """Write an array element by element; the body is rounded to its dtype."""
        axes = _axes(_PARALLEL, shape)
        at = _positions(axes)
        return self._add(name, dtype, axes, cast(body(at), dtype))

    def fold(
        self,
        name: str,
        shape: tuple[int, ...],
        over: Sequence[int],
        body: Callable[[At, At], Expr],
        *,
        monoid: Monoid,
        dtype: str,
    ) -> Value:
        """Write an array of folds.

        Args:
            name: Of array and statement.
            shape: Of the array.
            over: Extents of the reduced axes.
            body: The term at a position of the array and of the reduced axes.
            monoid: How terms are folded, in the dtype that arithmetic on `dtype` happens in.
            dtype: Of the array.
        """
        parallel = _axes(_PARALLEL, shape)
        reduced = _axes(_REDUCED, over)
        accumulator = compute_dtype(dtype)
        term = cast(body(_positions(parallel), _positions(reduced)), accumulator)
        if not reduced:
            return self._add(name, dtype, parallel, cast(term, dtype))
        reduce = Reduce(tuple(each.name for each in reduced), monoid, accumulator)
        return self._add(name, dtype, (*parallel, *reduced), term, reduce)

    def _add(
        self,
        name: str,
        dtype: str,
        axes: tuple[Axis, ...],
        body: Expr,
        reduce: Reduce | None = None,
    ) -> Value:
        extents = {each.name: each.extent for each in axes}
        written = axes[: len(axes) - len(reduce.axes)] if reduce else axes
        shape = tuple(each.extent for each in written)
        self.arrays.append(Array(name, shape, dtype, "intermediate"))
        output = Access(name, _positions(written))
        self.statements.append(Stmt(name, axes, output, _simplified(body, extents), reduce))
        return whole(name, shape, dtype)

    def step(self, node: Node, suffix: str) -> str:
        """Return an unused name for a step of an operator."""
        name = f"{node.name}_{suffix}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _axes(letters: str, extents: Sequence[int]) -> tuple[Axis, ...]:
    if len(extents) > len(letters):
        return tuple(Axis(f"{letters[0]}{place}", size) for place, size in enumerate(extents))
    return tuple(Axis(letters[place], size) for place, size in enumerate(extents))


def _positions(axes: Sequence[Axis]) -> tuple[Affine, ...]:
    return tuple(axis(each.name) for each in axes)


def _simplified(value: Expr, extents: dict[str, int]) -> Expr:
    """Simplify indices, and drop conditions that bounds show to hold."""
    if isinstance(value, Read):
        index = tuple(each.simplified(extents) for each in value.access.index)
        guard = _conditions(value.access.guard, extents)
        otherwise = value.access.otherwise if guard else 0.0
        return Read(Access(value.access.array, index, guard, otherwise), value.dtype)
    if isinstance(value, Call):
        args = tuple(_simplified(each, extents) for each in value.args)
        return Call(value.function, args, value.dtype)
    if isinstance(value, Position):
        return Position(value.of.simplified(extents), value.dtype)
    if isinstance(value, Select):
        guard = _conditions(value.guard, extents)
        then = _simplified(value.then, extents)
        return Select(guard, then, _simplified(value.otherwise, extents)) if guard else then
    return value


def _conditions(
    conditions: tuple[Condition, ...], extents: dict[str, int]
) -> tuple[Condition, ...]:
    simple = (Condition(each.of.simplified(extents), each.relation) for each in conditions)
    return tuple(each for each in simple if not each.always_holds(extents))
