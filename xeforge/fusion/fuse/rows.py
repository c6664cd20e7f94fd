"""Rows: folds over all columns of a row, and everything around them at the same points."""

from dataclasses import replace

from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group


def recognise(stmt: Stmt) -> Group | str:
    """Return the group that starts with this fold, or why it cannot be one of rows."""
    if stmt.reduce is None:
        return "it folds nothing"
    if stmt.constraints:
        return "terms are left out"
    columns = tuple(each for each in stmt.axes if each.name in stmt.reduced())
    axes: dict[AxisRole, tuple[Axis, ...]] = {"row": stmt.parallel_axes(), "column": columns}
    return Group(stmt.name, "rows", axes, (stmt,), ())


def join(group: Group, stmt: Stmt) -> Group | None:
    """Add a statement that is on the axes of the group already; None where it does not fit."""
    rows = {each.name for each in group.axes["row"]}
    columns = {each.name for each in group.axes["column"]}
    own = set(stmt.extents())
    fits = own == rows | columns and stmt.reduced() == columns
    if stmt.reduce is None:
        fits = own in (rows, rows | columns)
    return replace(group, statements=(*group.statements, stmt)) if fits else None
