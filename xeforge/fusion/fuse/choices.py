"""What may be changed in a plan: the moves of the search, each one a small piece of data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xeforge.fusion.fuse import inline
from xeforge.fusion.fuse import split
from xeforge.fusion.fuse.estimate import Estimate
from xeforge.fusion.fuse.estimate import fold_depths
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
    """A producer computed in its reader.

    Attributes:
        edge: Both.
        depth: How many more statements of the producer's kernel went with it.
    """

    edge: inline.Edge
    depth: int

    def __str__(self) -> str:
        return f"{self.edge.producer} is computed within {self.edge.reader}"


@dataclass(frozen=True, slots=True)
class Splits:
    """Folds to split together.

    Attributes:
        terms: Name of each statement and how many terms a part folds.
    """

    terms: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return "; ".join(f"{name} folds {terms} terms at a time" for name, terms in self.terms)

    def applied(self, program: Program) -> Program:
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
    writers = {
        stmt.output.array: stmt
        for group in plan.groups
        for stmt in group.statements
        if stmt.reduce is None
    }
    found = [
        inline.Edge(writers[name].name, stmt.name)
        for group in plan.groups
        for stmt in group.statements
        for name in dict.fromkeys(each.access.array for each in stmt.reads())
        if name in writers and name not in written(group)
    ]
    return tuple(found)


def inlined_chain(plan: Plan, program: Program, edge: inline.Edge) -> Iterator[Program]:
    """Yield the program with a producer inlined, then with what it was made of, and so on.

    Args:
        plan: Of the program; only producers of the first one's kernel follow it.
        program: Whose statements the edge names.
        edge: One that crosses kernels.
    """
    home = next(
        {each.name for each in group.statements}
        for group in plan.groups
        if any(each.name == edge.producer for each in group.statements)
    )
    edges = [edge]
    for _ in range(_LONGEST_CHAIN):
        if not edges or not inline.may_inline(program, edges[0]):
            return
        program = inline.run(program, edges.pop(0))
        yield program
        writers = program.writers()
        reader = next(each for each in program.statements if each.name == edge.reader)
        made_of = dict.fromkeys(each.access.array for each in reader.reads())
        names = [writers[array].name for array in made_of if array in writers]
        edges = [inline.Edge(name, edge.reader) for name in names if name in home]


def splits(plan: Plan, estimate: Estimate, machine: Machine) -> Iterator[Splits]:
    """Yield folds that leave the machine idle, and those that could start in a contraction."""
    contracted = frozenset[str]().union(
        *(written(each) for each in plan.groups if each.family == "contraction")
    )
    for group, cost in zip(plan.groups, estimate.groups, strict=True):
        if group.family == "rows" and contracted & set(group.given()):
            yield from _tile_folds(group, machine)
        if group.family == "rows" and cost.busy_ratio < 1:
            yield from _shorter_rows(group, machine)


def _shorter_rows(group: Group, machine: Machine) -> Iterator[Splits]:
    folds = [each for each in group.statements if each.reduce]
    found = [(each.name, split.terms_for(each, machine.units)) for each in folds]
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


def slow_members(plan: Plan, estimate: Estimate, machine: Machine) -> Iterator[str]:
    """Yield statements of kernels that take longer than their traffic does."""
    for group, cost in zip(plan.groups, estimate.groups, strict=True):
        if cost.seconds > cost.moved_bytes / machine.bandwidth_bytes_per_s:
            yield from (each.name for each in group.statements[1:])


def folds_in_contractions(plan: Plan) -> frozenset[str]:
    """Return the first fold after each contraction within its kernel."""
    found = set()
    for group in plan.groups:
        folds = [each.name for each in group.statements[1:] if each.reduce]
        if group.family == "contraction" and folds:
            found.add(folds[0])
    return frozenset(found)
