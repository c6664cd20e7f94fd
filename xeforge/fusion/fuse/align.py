"""Bring one more statement to the axes of a group.

Before:  group i < 4, j < 16 writes p[i, j];  s[i, g] = sum over c < 8 of p[i, 8*g + c]
After:   group i < 4, j_0 < 2, j_1 < 8 writes p[i, 8*j_0 + j_1];
         s[i, j_0] = sum over j_1 < 8 of p[i, 8*j_0 + j_1]
"""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import axis
from xeforge.fusion.fuse.digits import Digits
from xeforge.fusion.fuse.digits import ordered
from xeforge.fusion.fuse.rewrite import moved
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


@dataclass(frozen=True, slots=True)
class Aligned:
    """A group and a statement that does not belong to it yet, on the same axes.

    Attributes:
        group: As fine as the statement needs it.
        stmt: In axes of the group only.
    """

    group: Group
    stmt: Stmt


def align(group: Group, stmt: Stmt) -> Aligned | None:
    """Return both on common axes; None where what is read was written at another index.

    Axes that the statement has beside those of what it reads from the group may be any: they
    become the group's columns, or ``n``, where the extents allow it.

    Args:
        group: Not a nest.
        stmt: Reads at least one array of the group.
    """
    writes = {each.output.array: each.output for each in group.statements}
    reads = [each.access for each in stmt.reads() if each.access.array in writes]
    if any(each.guard for each in reads):
        return None
    digits = Digits(_extents(group), stmt.extents())
    for read in reads:
        if not _unify(digits, writes[read.array], read):
            return None
    return _on_digits(group, stmt, digits) if _place_free(group, digits) else None


def align_sibling(group: Group, stmt: Stmt) -> Aligned | None:
    """Return both on common axes by an array that both read; None where there is none.

    Args:
        group: Not a nest.
        stmt: Reads no array that the group writes.
    """
    given = set(group.given())
    own = {each.access.array: each.access for each in reversed(stmt.reads())}
    for each in (read for member in group.statements for read in member.reads()):
        access = own.get(each.access.array)
        if access is None or access.array not in given or each.conditions or access.guard:
            continue
        digits = Digits(_extents(group), stmt.extents())
        if _unify(digits, each.access, access) and not digits.free():
            return _on_digits(group, stmt, digits)
    return None


def _unify(digits: Digits, own: Access, read: Access) -> bool:
    pairs = zip(own.index, read.index, strict=True)
    return all(digits.unify(written, index) for written, index in pairs)


def refined(group: Group, values: Mapping[str, Affine], extents: Mapping[str, int]) -> Group:
    """Say a group in finer axes."""
    if all(value.single_axis() == name for name, value in values.items()):
        return group
    axes = {
        role: tuple(
            Axis(name, extents[name]) for each in own for name in ordered(values[each.name])
        )
        for role, own in group.axes.items()
    }
    every = [each for own in axes.values() for each in own]
    statements = tuple(
        moved(stmt, values, (*_used(every, stmt, values), *_unnamed(every, stmt, values)))
        for stmt in group.statements
    )
    return replace(group, axes=axes, statements=statements)


def _extents(group: Group) -> dict[str, int]:
    """Return the extents of all axes, those included that a nest folds and no role names."""
    own = [each for axes in group.axes.values() for each in axes]
    return {each.name: each.extent for each in (*own, *group.statements[0].axes)}


def _place_free(group: Group, digits: Digits) -> bool:
    """Set the free axes of the reader equal to the columns that it does not read."""
    free = digits.free()
    if not free:
        return True
    columns = _as_number(group.axes.get("column") or group.axes.get("n") or ())
    read = _number_of([(name, digits.extents[name]) for name in free])
    return digits.unify_free(columns, read)


def _as_number(axes: Sequence[Axis]) -> Affine:
    return _number_of([(each.name, each.extent) for each in axes])


def _number_of(axes: Sequence[tuple[str, int]]) -> Affine:
    total, weight = Affine(), 1
    for name, extent in reversed(axes):
        total = total + axis(name) * weight
        weight *= extent
    return total


def _on_digits(group: Group, stmt: Stmt, digits: Digits) -> Aligned:
    finer = refined(group, digits.group, digits.extents)
    every = [each for own in finer.axes.values() for each in own]
    return Aligned(finer, moved(stmt, digits.reader, _used(every, stmt, digits.reader)))


def _used(every: Sequence[Axis], stmt: Stmt, values: Mapping[str, Affine]) -> tuple[Axis, ...]:
    """Return the axes of the group that a statement has, in the order of the group."""
    names = {name for each in stmt.axes for name in values[each.name].names()}
    return tuple(each for each in every if each.name in names)


def _unnamed(every: Sequence[Axis], stmt: Stmt, values: Mapping[str, Affine]) -> tuple[Axis, ...]:
    """Return the axes that no role names, as they are: those that a nest folds."""
    named = {each.name for each in every}
    return tuple(each for each in stmt.axes if values[each.name].names().isdisjoint(named))
