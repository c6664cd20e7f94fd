"""Pointwise chains: all statements at the same points, until a fold makes rows of them."""

from dataclasses import replace

from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group


def recognise(stmt: Stmt) -> Group | str:
    """Return the group that starts with this statement, or why it is no pointwise one."""
    if stmt.reduce is not None:
        return "it is a fold"
    if stmt.constraints:
        return "points are left out"
    return Group(stmt.name, "pointwise", {"point": stmt.axes}, (stmt,), ())


def join(group: Group, stmt: Stmt) -> Group | None:
    """Add a statement that is on the axes of the group already; None where it does not fit.

    A fold turns the group into one of rows: what it folds are the columns.
    """
    points = group.axes["point"]
    if set(stmt.extents()) != {each.name for each in points} or stmt.constraints:
        return None
    statements = (*group.statements, stmt)
    if stmt.reduce is None:
        return replace(group, statements=statements)
    axes: dict[AxisRole, tuple[Axis, ...]] = {
        "row": tuple(each for each in points if each.name not in stmt.reduced()),
        "column": tuple(each for each in points if each.name in stmt.reduced()),
    }
    return replace(group, family="rows", axes=axes, statements=statements)
