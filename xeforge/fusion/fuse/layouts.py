"""Lay intermediate arrays so that lanes side by side write side by side.

Before:  pooled[k, n] with 128 lanes along k: each element is stored 2 n bytes from the next one
After:   pooled[n, k]

Who walks down the columns of what it reads (`xeforge.fusion.fuse.memory`) has its lanes along the
rows of what it writes. Where the array is one of ours, its layout is free, and its readers follow.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import replace

from xeforge.fusion.affine import axis
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.memory import walk_of
from xeforge.fusion.fuse.rewrite import with_reads
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

NAME = "lay_out"
Order = tuple[int, ...]


def run(plan: Plan, *, units: int) -> Plan:
    """Return the plan with dimensions of intermediate arrays in another order.

    Args:
        plan: Well-formed.
        units: Multiprocessors of the target.
    """
    arrays = plan.program.arrays_by_name()
    orders = dict(each for group in plan.groups for each in _orders(group, arrays, units))
    if not orders:
        return plan
    groups = tuple(
        replace(group, statements=tuple(_turned(each, orders) for each in group.statements))
        for group in plan.groups
    )
    kept = tuple(_turned_array(each, orders) for each in plan.program.arrays)
    program = replace(
        plan.program,
        arrays=kept,
        statements=tuple(_turned(each, orders) for each in plan.program.statements),
        passes=(*plan.program.passes, NAME),
    )
    notes = (f"{name} is laid out as its lanes write it" for name in orders)
    result = replace(plan, program=program, groups=groups, notes=(*plan.notes, *notes))
    check_plan(result)
    return result


def _orders(group: Group, arrays: Mapping[str, Array], units: int) -> Iterator[tuple[str, Order]]:
    """Yield the arrays of a group that are better laid otherwise, and the order of dimensions."""
    if group.family != "rows":
        return
    walk = walk_of(group, arrays, units=units)
    if walk.lanes == 1:
        return
    for stmt in group.statements:
        name = stmt.output.array
        if name in group.stored and arrays[name].role == "intermediate":
            order = _order(stmt.output, walk.rows[-1].name)
            if order is not None:
                yield name, order


def _order(output: Access, lanes: str) -> Order | None:
    """Return the order that brings the lanes to the end; None where they are, or are nowhere."""
    places = [place for place, index in enumerate(output.index) if index == axis(lanes)]
    last = len(output.index) - 1
    if len(places) != 1 or places[0] == last:
        return None
    return (*(each for each in range(last + 1) if each != places[0]), places[0])


def _turned_array(array: Array, orders: Mapping[str, Order]) -> Array:
    order = orders.get(array.name)
    return array if order is None else replace(array, shape=tuple(array.shape[i] for i in order))


def _turned(stmt: Stmt, orders: Mapping[str, Order]) -> Stmt:
    def turned(access: Access) -> Access:
        order = orders.get(access.array)
        if order is None:
            return access
        return replace(access, index=tuple(access.index[i] for i in order))

    def put(read: Read) -> Read:
        return replace(read, access=turned(read.access))

    return replace(stmt, output=turned(stmt.output), body=with_reads(stmt.body, put))
