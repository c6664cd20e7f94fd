"""Groups while they grow: statement by statement, each into the best group it may join."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion.fuse import contraction
from xeforge.fusion.fuse import nest
from xeforge.fusion.fuse import pointwise
from xeforge.fusion.fuse import rows
from xeforge.fusion.fuse.align import align
from xeforge.fusion.fuse.align import align_sibling
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Family
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

_PREFERENCE: tuple[Family, ...] = ("nest", "contraction", "rows", "pointwise")


@dataclass(frozen=True, slots=True)
class Limits:
    """What growing may do.

    Attributes:
        machine: Says how much a tile may hold.
        alone: Names of statements that start a group of their own.
    """

    machine: Machine
    alone: frozenset[str] = frozenset()


class Joins:
    """Which group a statement starts and which it makes of a group, each computed once.

    Plans of one program differ in few statements, so that most groups of a search are grown
    before. Keys are the objects themselves, which are kept alive here.

    Args:
        machine: Says how much a tile may hold, and what the emitter can do.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._started: dict[int, tuple[Stmt, tuple[Group, list[str]]]] = {}
        self._joined: dict[tuple[int, int], tuple[Group, Stmt, Group | None]] = {}

    def start(self, stmt: Stmt) -> tuple[Group, list[str]]:
        """Return the group that starts with a statement, and notes."""
        if id(stmt) not in self._started:
            self._started[id(stmt)] = stmt, _start(stmt, self.machine)
        return self._started[id(stmt)][1]

    def join(self, group: Group, stmt: Stmt) -> Group | None:
        """Return the group with a statement, or None where it does not fit."""
        key = id(group), id(stmt)
        if key not in self._joined:
            self._joined[key] = group, stmt, _join(group, stmt, self.machine)
        return self._joined[key][2]


def grow(program: Program, limits: Limits, joins: Joins | None = None) -> Plan:
    """Put each statement into the best group it may join, or into a new one.

    Args:
        program: Well-formed; its axes have more than one point each.
        limits: Says which statements may not join.
        joins: Of earlier plans for the same machine.
    """
    joins = Joins(limits.machine) if joins is None else joins
    groups: list[Group] = []
    notes: list[str] = []
    for stmt in program.statements:
        found = None if stmt.name in limits.alone else _joined(groups, stmt, joins)
        if found is not None:
            groups[found[0]] = found[1]
        else:
            group, why = joins.start(stmt)
            groups.append(group)
            notes += why
    ordered = _in_order(groups)
    notes += _chained(ordered)
    return Plan(program, tuple(_with_stored(ordered, program.outputs)), tuple(notes))


def _start(stmt: Stmt, machine: Machine) -> tuple[Group, list[str]]:
    """Return the group that starts with a statement, and notes."""
    kinds: list[Group | str] = [pointwise.recognise(stmt)]
    if stmt.reduce is not None:
        kinds = []
        if machine.has_matrix_units:
            kinds += [contraction.recognise(stmt, windows=machine.contracts_windows)]
        # A convolution as rows would read its windows again for each channel.
        is_windowed = contraction.is_sum_of_products(stmt) and contraction.window(stmt)
        kinds += [] if is_windowed else [rows.recognise(stmt)]
    reasons = [each for each in kinds if isinstance(each, str)]
    found = next((each for each in kinds if isinstance(each, Group)), None)
    if found is not None:
        return found, []
    return nest.recognise(stmt), [f"{stmt.name} is a nest: {'; '.join(reasons)}"]


def _joined(groups: Sequence[Group], stmt: Stmt, joins: Joins) -> tuple[int, Group] | None:
    """Return a group that takes the statement, and the group with it.

    What reads from a group comes before what only reads the same arrays as one.
    """
    families = _PREFERENCE if joins.machine.nests_take_pointwise else _PREFERENCE[1:]
    for is_reader in (True, False):
        for family in families:
            for place, group in enumerate(groups):
                if group.family != family or _reads(stmt, group) != is_reader:
                    continue
                found = None if _runs_later(groups, place, stmt) else joins.join(group, stmt)
                if found is not None:
                    return place, found
    return None


def _join(group: Group, stmt: Stmt, machine: Machine) -> Group | None:
    aligned = align(group, stmt) if _reads(stmt, group) else align_sibling(group, stmt)
    if aligned is None:
        return None
    if group.family == "contraction":
        return contraction.join(aligned.group, aligned.stmt, most_columns=machine.most_columns)
    joins = {"rows": rows.join, "pointwise": pointwise.join, "nest": nest.join}
    return joins[group.family](aligned.group, aligned.stmt)


def _reads(stmt: Stmt, group: Group) -> bool:
    return bool(written(group) & {each.access.array for each in stmt.reads()})


def written(group: Group) -> frozenset[str]:
    """Return the arrays that a group writes."""
    return frozenset(each.output.array for each in group.statements)


def _runs_later(groups: Sequence[Group], place: int, stmt: Stmt) -> bool:
    """Say whether something that the statement reads from another group needs this group."""
    needed = {each.access.array for each in stmt.reads()} - written(groups[place])
    seen: set[int] = set()
    while needed:
        name = needed.pop()
        for other, group in enumerate(groups):
            if name in written(group) and other not in seen:
                if other == place:
                    return True
                seen.add(other)
                needed.update(group.given())
    return False


def _chained(groups: Sequence[Group]) -> Iterator[str]:
    """Yield a note for each contraction of what another one computes."""
    contracted = {name for each in groups if each.family == "contraction" for name in written(each)}
    for group in groups:
        names = sorted(contracted & set(group.given()))
        if group.family == "contraction" and names:
            yield f"{group.name} reads {names[0]} of another contraction: each is a kernel"


def _in_order(groups: Iterable[Group]) -> list[Group]:
    """Return the groups so that each comes after those that it reads from."""
    waiting, done = list(groups), []
    while waiting:
        missing = {name for each in waiting for name in written(each)}
        ready = [each for each in waiting if not missing & set(each.given())]
        if not ready:
            raise ValueError("groups need each other in a circle")
        done.append(ready[0])
        waiting.remove(ready[0])
    return done


def _with_stored(groups: Sequence[Group], outputs: Sequence[str]) -> Iterator[Group]:
    for group in groups:
        needed = {name for other in groups if other is not group for name in other.given()}
        needed.update(outputs)
        stored = (each.output.array for each in group.statements)
        kept = tuple(name for name in stored if name in needed)
        is_single = group.family == "nest" and len(group.statements) == 1
        yield replace(group, stored=kept, axes={} if is_single else group.axes)
