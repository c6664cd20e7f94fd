"""What may be changed in a plan: the moves of the search, each one a small piece of data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xeforge.fusion.fuse import inline
from xeforge.fusion.fuse import split
from xeforge.fusion.fuse.estimate import Estimate
from xeforge.fusion.fuse.estimate import fold_depths
from xeforge.fusion.fuse.estimate import lanes
from xeforge.fusion.fuse.growing import written
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

_TILE_COLUMNS = 128
"""Columns of a contraction's tile that are folded to one partial result."""
_LONGEST_CHAIN = 6
"""Pointwise statements that one change inlines into a reader."""


@dataclass(frozen=True, slots=True)
class Inlined:
    """Producers computed in a reader.

    Attributes:
        edges: The first one crosses kernels; the others follow what it reads, or have its producer.
    """

    edges: tuple[inline.Edge, ...]

    def __str__(self) -> str:
        names = ", ".join(dict.fromkeys(each.producer for each in self.edges))
        readers = list(dict.fromkeys(each.reader for each in self.edges))
        if len(readers) == 1:
            return f"{readers[0]} computes {names} itself"
        return f"{', '.join(readers)} compute {names} themselves"

    def applied(self, program: Program) -> Program | None:
        """Inline them one after the other; None where one may not be."""
        for edge in self.edges:
            if not inline.may_inline(program, edge):
                return None
            program = inline.run(program, edge)
        return program


@dataclass(frozen=True, slots=True)
class Splits:
    """Folds to split together.

    Attributes:
        terms: Name of each statement and how many terms a part folds.
    """

    terms: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return "; ".join(f"{name} folds {terms} terms at a time" for name, terms in self.terms)

    def applied(self, program: Program) -> Program | None:
        """Split them, one after the other."""
        for name, terms in self.terms:
            program = split.run(program, name, terms)
        return program


@dataclass(frozen=True, slots=True)
class Apart:
    """A statement that starts a kernel, although it could join one.

    Attributes:
        name: Of the statement.
    """

    name: str

    def __str__(self) -> str:
        return f"{self.name} starts a kernel, although it could follow what it reads"


Change: TypeAlias = Inlined | Splits | Apart


def crossing_edges(plan: Plan) -> tuple[inline.Edge, ...]:
    """Return the pointwise producers whose values another group reads, with each reader."""
    writers = {stmt.output.array: stmt for group in plan.groups for stmt in group.statements}
    reads = [
        (stmt, name)
        for group in plan.groups
        for stmt in group.statements
        for name in dict.fromkeys(each.access.array for each in stmt.reads())
        if name in writers and name not in written(group)
    ]
    return tuple(
        inline.Edge(writers[name].name, stmt.name)
        for stmt, name in reads
        if writers[name].reduce is None
    )


def inlinings(plan: Plan) -> Iterator[Inlined]:
    """Yield each crossing edge alone, and with more and more of what its producer is made of.

    To store what a producer is made of may take no more room than what it makes, so that the
    first step of a chain alone would not show that it helps. Nor does one of several readers
    alone: what they read is stored as long as one of them does.
    """
    homes = {stmt.name: group for group in plan.groups for stmt in group.statements}
    crossing = crossing_edges(plan)
    for producer in dict.fromkeys(each.producer for each in crossing):
        edges = tuple(each for each in crossing if each.producer == producer)
        if len(edges) > 1:
            yield Inlined(edges)
    for edge in crossing:
        home = homes[edge.producer]
        pointwise = {each.output.array: each for each in home.statements if each.reduce is None}
        names = [edge.producer]
        for name in names:
            stmt = next(each for each in home.statements if each.name == name)
            made_of = (pointwise.get(each.access.array) for each in stmt.reads())
            names += [each.name for each in made_of if each and each.name not in names]
        edges = tuple(inline.Edge(name, edge.reader) for name in names[:_LONGEST_CHAIN])
        yield from (Inlined(edges[:count]) for count in range(1, len(edges) + 1))


def splits(plan: Plan, estimate: Estimate, machine: Machine) -> Iterator[Splits]:
    """Yield folds that leave the machine idle, and those that could start in a contraction."""
    contracted = frozenset[str]().union(
        *(written(each) for each in plan.groups if each.family == "contraction")
    )
    for group, cost in zip(plan.groups, estimate.groups, strict=True):
        if group.family == "rows" and contracted & set(group.given()):
            yield from _tile_folds(group, machine)
        # A second kernel is launched for what the first one saves.
        idle_seconds = cost.seconds * (1 - cost.busy_ratio)
        if group.family == "rows" and idle_seconds > machine.launch_seconds:
            side_by_side = lanes(group, plan.program.arrays_by_name(), machine)
            yield from _shorter_rows(group, machine, side_by_side)


def _shorter_rows(group: Group, machine: Machine, side_by_side: int) -> Iterator[Splits]:
    folds = [each for each in group.statements if each.reduce]
    found = [(each.name, split.terms_for(each, machine.units, side_by_side)) for each in folds]
    kept = tuple((name, terms) for name, terms in found if terms)
    if kept:
        yield Splits(kept)


def _tile_folds(group: Group, machine: Machine) -> Iterator[Splits]:
    """Yield the folds of a row that a contraction could begin, tile by tile."""
    if group.extent("column") <= machine.most_columns:
        return
    depths = fold_depths(group)
    tile = min(_TILE_COLUMNS, machine.most_columns)
    first = [each.name for each in group.statements if each.reduce and not depths[each]]
    if first:
        yield Splits(tuple((name, tile) for name in first))


def slow_members(plan: Plan, estimate: Estimate, machine: Machine) -> Iterator[Apart]:
    """Yield statements of kernels that take longer than their traffic does."""
    for group, cost in zip(plan.groups, estimate.groups, strict=True):
        if cost.seconds > cost.moved_bytes / machine.bandwidth_bytes_per_s:
            yield from (Apart(each.name) for each in group.statements[1:])


def folds_in_contractions(plan: Plan) -> frozenset[str]:
    """Return the first fold after each contraction within its kernel."""
    found = set()
    for group in plan.groups:
        folds = [each.name for each in group.statements[1:] if each.reduce]
        if group.family == "contraction" and folds:
            found.add(folds[0])
    return frozenset(found)
