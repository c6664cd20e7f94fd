"""Nests: one statement of any form, and pointwise ones at the points that it writes."""

from dataclasses import replace

from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


def recognise(stmt: Stmt) -> Group:
    """Return the group that starts with this statement."""
    return Group(stmt.name, "nest", {"point": stmt.parallel_axes()}, (stmt,), ())


def join(group: Group, stmt: Stmt) -> Group | None:
    """Add a statement that is on the axes of the group already; None where it does not fit."""
    points = {each.name for each in group.axes["point"]}
    if stmt.reduce or stmt.constraints or set(stmt.extents()) != points:
        return None
    return replace(group, statements=(*group.statements, stmt))
