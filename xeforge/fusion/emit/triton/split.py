"""Cut the sum of a contraction into parts, for problems with few tiles.

Before:  p[i, j] = sum over r < 4096 of a[i, r] * b[j, r];             y[i, j] = f(p[i, j])
After:   p_parts[s, i, j] = sum over r < 1024 of a[i, 1024 s + r] * b[j, 1024 s + r]
         p[i, j] = sum over s < 4 of p_parts[s, i, j];                 y[i, j] = f(p[i, j])

The part numbers a batch of the first kernel, since both factors know it. The second kernel adds the
parts in order, so that results do not depend on timing.
"""

from dataclasses import replace

from xeforge.errors import BadRequest
from xeforge.fusion.affine import axis
from xeforge.fusion.fuse.rewrite import moved_expr
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

_FEWEST = 2


def split_sum(plan: Plan, name: str, parts: int) -> Plan:
    """Return the plan with the sum of one contraction in parts.

    Args:
        plan: Well-formed.
        name: Of a group of family ``contraction`` with one axis k.
        parts: Divides the extent of k into more than one term each.

    Raises:
        BadRequest: The group is no such contraction, or k does not divide.
    """
    place = next((at for at, each in enumerate(plan.groups) if each.name == name), None)
    group = None if place is None else plan.groups[place]
    if place is None or group is None or group.family != "contraction":
        raise BadRequest(f"{name} is no contraction of this plan")
    deep = group.axes["k"]
    if len(deep) != 1 or parts < _FEWEST or deep[0].extent % parts or deep[0].extent == parts:
        raise BadRequest(f"the sum of {name} has no {parts} equal parts of several terms")
    first, array = _partial(group, parts)
    groups = (*plan.groups[:place], first, *_rest(group, array), *plan.groups[place + 1 :])
    program = replace(plan.program, arrays=(*plan.program.arrays, array))
    statements = tuple(stmt for each in groups for stmt in each.statements)
    program = program.with_statements(statements, by="split_sum")
    notes = (*plan.notes, f"{name} is summed in {parts} parts")
    return replace(plan, program=program, groups=groups, notes=notes)


def _partial(group: Group, parts: int) -> tuple[Group, Array]:
    """Return the group that computes the partial sums, and their array."""
    root, (deep,) = group.statements[0], group.axes["k"]
    if root.reduce is None:
        raise BadRequest(f"{group.name} sums nothing")
    part = Axis(_part_name(group), parts)
    inner = Axis(deep.name, deep.extent // parts)
    moved = {deep.name: axis(part.name) * inner.extent + axis(deep.name)}
    outer = root.parallel_axes()
    array = Array(
        f"{root.output.array}_parts",
        (parts, *(each.extent for each in outer)),
        root.reduce.dtype,
        "intermediate",
    )
    output = Access(array.name, (axis(part.name), *(axis(each.name) for each in outer)))
    extents = {**root.extents(), part.name: parts, deep.name: inner.extent}
    body = moved_expr(root.body, moved, extents)
    stmt = Stmt(array.name, (part, *outer, inner), output, body, root.reduce)
    axes: dict[AxisRole, tuple[Axis, ...]] = {
        **group.axes,
        "batch": (part, *group.axes["batch"]),
        "k": (inner,),
    }
    return Group(array.name, "contraction", axes, (stmt,), (array.name,)), array


def _rest(group: Group, array: Array) -> tuple[Group, ...]:
    """Return what adds the parts, and what follows: in one kernel where nothing folds."""
    root, *later = group.statements
    part = Axis(_part_name(group), array.shape[0])
    outer = root.parallel_axes()
    index = (axis(part.name), *(axis(each.name) for each in outer))
    reduce = Reduce((part.name,), "sum", array.dtype)
    added = Stmt(
        root.name, (*outer, part), root.output, Read(Access(array.name, index), array.dtype), reduce
    )
    points = tuple(each for role in ("batch", "m", "n") for each in _axes_of(group, role))
    folded = {name for stmt in later for name in stmt.reduced()}
    if not folded:
        statements = (added, *later)
        rows: dict[AxisRole, tuple[Axis, ...]] = {"row": points, "column": (part,)}
        return (Group(group.name, "rows", rows, statements, _stored(group, statements)),)
    total = Group(f"{group.name}_total", "nest", {}, (added,), (root.output.array,))
    rows = {
        "row": tuple(each for each in points if each.name not in folded),
        "column": tuple(each for each in points if each.name in folded),
    }
    return (total, Group(group.name, "rows", rows, tuple(later), _stored(group, tuple(later))))


def _axes_of(group: Group, role: str) -> tuple[Axis, ...]:
    return next(own for name, own in group.axes.items() if name == role)


def _stored(group: Group, statements: tuple[Stmt, ...]) -> tuple[str, ...]:
    names = (each.output.array for each in statements)
    return tuple(name for name in names if name in group.stored)


def _part_name(group: Group) -> str:
    name, taken = "s", {each.name for own in group.axes.values() for each in own}
    while name in taken:
        name += "_"
    return name
