"""Statements said in other axes, and expressions with other reads; what they mean stays."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt


def with_reads(value: Expr, put: Callable[[Read], Expr]) -> Expr:
    """Replace every read of an expression."""
    if isinstance(value, Read):
        return put(value)
    if isinstance(value, Call):
        return replace(value, args=tuple(with_reads(each, put) for each in value.args))
    if isinstance(value, Select):
        then = with_reads(value.then, put)
        return Select(value.guard, then, with_reads(value.otherwise, put))
    return value


def moved_expr(value: Expr, values: Mapping[str, Affine], extents: Mapping[str, int]) -> Expr:
    """Replace axes by expressions in axes of these extents; conditions that always hold go."""
    if isinstance(value, Read):
        return replace(value, access=_moved_access(value.access, values, extents))
    if isinstance(value, Call):
        args = tuple(moved_expr(each, values, extents) for each in value.args)
        return replace(value, args=args)
    if isinstance(value, Position):
        return replace(value, of=value.of.substitute(values).simplified(extents))
    if isinstance(value, Select):
        guard = _moved_conditions(value.guard, values, extents)
        then = moved_expr(value.then, values, extents)
        otherwise = moved_expr(value.otherwise, values, extents)
        return Select(guard, then, otherwise) if guard else then
    return value


def moved(stmt: Stmt, values: Mapping[str, Affine], axes: Sequence[Axis]) -> Stmt:
    """Say a statement in other axes.

    Args:
        stmt: Its axes that are not named in `values` stay.
        values: A bijection from points of the new axes to points of the old ones; what a reduced
            axis becomes has only axes of its own.
        axes: All axes of the result, outermost first.
    """
    extents = {each.name: each.extent for each in axes}
    reduce = stmt.reduce
    if reduce is not None:
        folded = {name for old in reduce.axes for name in _image(old, values)}
        reduce = replace(reduce, axes=tuple(each.name for each in axes if each.name in folded))
    return Stmt(
        stmt.name,
        tuple(axes),
        _moved_access(stmt.output, values, extents),
        moved_expr(stmt.body, values, extents),
        reduce,
        _moved_conditions(stmt.constraints, values, extents),
    )


def _image(old: str, values: Mapping[str, Affine]) -> frozenset[str]:
    return values[old].names() if old in values else frozenset({old})


def _moved_access(
    access: Access, values: Mapping[str, Affine], extents: Mapping[str, int]
) -> Access:
    index = tuple(each.substitute(values).simplified(extents) for each in access.index)
    guard = _moved_conditions(access.guard, values, extents)
    return Access(access.array, index, guard, access.otherwise if guard else 0.0)


def _moved_conditions(
    conditions: Iterable[Condition], values: Mapping[str, Affine], extents: Mapping[str, int]
) -> tuple[Condition, ...]:
    new = (
        Condition(each.of.substitute(values).simplified(extents), each.relation)
        for each in conditions
    )
    return tuple(each for each in new if not each.always_holds(extents))
