"""Groups while they grow: statement by statement, each into the best group it may join."""

from collections.abc import Iterator
from dataclasses import dataclass

from xeforge.fusion.fuse.joins import Joins
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


def grow(program: Program, limits: Limits, joins: Joins | None = None) -> Plan:
    """Put each statement into the best group it may join, or into a new one.

    Args:
        program: Well-formed; its axes have more than one point each.
        limits: Says which statements may not join.
        joins: Of earlier plans for the same machine.
    """
    growing = _Growing(Joins(limits.machine) if joins is None else joins)
    for stmt in program.statements:
        growing.add(stmt, may_join=stmt.name not in limits.alone)
    return growing.plan(program)


def written(group: Group) -> frozenset[str]:
    """Return the arrays that a group writes."""
    return frozenset(each.output.array for each in group.statements)


class _Growing:
    """Groups so far, by place; a place keeps its number while its group grows."""

    def __init__(self, joins: Joins) -> None:
        self._joins = joins
        self._groups: list[Group] = []
        self._notes: list[str] = []
        # Which group writes an array, and which arrays each group reads from elsewhere.
        self._home: dict[str, int] = {}
        self._given: list[set[str]] = []

    def add(self, stmt: Stmt, *, may_join: bool) -> None:
        """Put one more statement where it belongs."""
        found = self._joined(stmt) if may_join else None
        if found is None:
            group, notes = self._joins.start(stmt)
            self._notes += notes
            found = len(self._groups), group
            self._groups.append(group)
            self._given.append(set())
        place, self._groups[found[0]] = found
        reads = self._joins.reads(stmt)
        self._given[place].update(name for name in reads if self._home.get(name) != place)
        self._home[stmt.output.array] = place

    def _joined(self, stmt: Stmt) -> tuple[int, Group] | None:
        """Return a place, and its group with the statement.

        What reads from a group comes before what only reads the same arrays as one.
        """
        reads = self._joins.reads(stmt)
        homes = {self._home[name] for name in reads if name in self._home}
        siblings = {place for place, given in enumerate(self._given) if given & reads} - homes
        for is_reader, places in ((True, homes), (False, siblings)):
            for place in sorted(places, key=self._rank):
                group = self._groups[place]
                if group.family == "nest" and not self._joins.machine.nests_take_pointwise:
                    continue
                if self._runs_later(place, reads):
                    continue
                found = self._joins.join(group, stmt, is_reader=is_reader)
                if found is not None:
                    return place, found
        return None

    def _rank(self, place: int) -> tuple[int, int]:
        return _PREFERENCE.index(self._groups[place].family), place

    def _runs_later(self, place: int, reads: frozenset[str]) -> bool:
        """Say whether something that is read of another group needs the group at a place."""
        waiting = [self._home[name] for name in reads if name in self._home]
        seen = {place}
        while waiting:
            other = waiting.pop()
            if other in seen:
                continue
            seen.add(other)
            needs = self._needs(other)
            if place in needs:
                return True
            waiting += needs
        return False

    def _needs(self, place: int) -> set[int]:
        return {self._home[name] for name in self._given[place] if name in self._home}

    def plan(self, program: Program) -> Plan:
        """Return the groups in an order in which they can run."""
        needed = frozenset(program.outputs).union(*self._given)
        groups = []
        for place in self._order():
            own = self._groups[place]
            groups.append(self._joins.stored(own, written(own) & needed))
        return Plan(program, tuple(groups), (*self._notes, *self._chained()))

    def _order(self) -> Iterator[int]:
        waiting, done = list(range(len(self._groups))), set[int]()
        while waiting:
            ready = next((each for each in waiting if self._needs(each) <= done), None)
            if ready is None:
                raise ValueError("groups need each other in a circle")
            yield ready
            done.add(ready)
            waiting.remove(ready)

    def _chained(self) -> Iterator[str]:
        """Yield a note for each contraction of what another one computes."""
        for place, group in enumerate(self._groups):
            for name in sorted(self._given[place] & set(self._home)):
                other = self._groups[self._home[name]]
                if group.family == other.family == "contraction":
                    yield f"{group.name} reads {name} of {other.name}: each is a kernel"
