"""Which plan: a bounded search over what is inlined and what starts a kernel of its own.

Everything grows together first. Then producers are inlined, and statements set apart, one by one,
as long as the cost model says that it helps. One kernel for each statement is always among the
answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion import wellformed
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import inline
from xeforge.fusion.fuse.estimate import Estimate
from xeforge.fusion.fuse.estimate import estimate
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.growing import written
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Plan

MOST_TRIALS = 60
"""Plans that one search may grow; each takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan and what the model says of it.

    Attributes:
        name: ``"fused"``, ``"apart"`` (what follows a fold has kernels of its own),
            ``"not_inlined"`` or ``"unfused"``.
        plan: Keeps the contract with the emitters.
        estimate: By the cost model.
    """

    name: str
    plan: Plan
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class _State:
    """Decisions so far, and the plan that they make."""

    program: Program
    limits: Limits
    plan: Plan
    estimate: Estimate


class _Search:
    """Grows plans of one program, up to a number of them."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.original = program
        self.machine = machine
        self.left = MOST_TRIALS

    def state(self, program: Program, limits: Limits) -> _State:
        """Grow the plan of some decisions."""
        self.left -= 1
        plan = grow(program, limits)
        return _State(program, limits, plan, estimate(plan, self.original, self.machine))

    def improved(self, state: _State) -> _State:
        """Take changes that help until none does, or no trial is left."""
        refused: set[object] = set()
        while True:
            for change, made in self._changes(state, refused):
                if _is_better(made.estimate, state.estimate):
                    state = made
                    break
                refused.add(change)
            else:
                return state

    def _changes(self, state: _State, refused: set[object]) -> Iterator[tuple[object, _State]]:
        for edge in crossing_edges(state.plan):
            if edge not in refused and self.left > 0 and inline.may_inline(state.program, edge):
                yield edge, self.state(inline.run(state.program, edge), state.limits)
        for stmt in self._slow_members(state):
            if stmt not in refused and self.left > 0:
                alone = replace(state.limits, alone=state.limits.alone | {stmt})
                yield stmt, self.state(state.program, alone)

    def _slow_members(self, state: _State) -> Iterator[str]:
        """Yield statements of kernels that traffic alone would not keep as long."""
        for group, cost in zip(state.plan.groups, state.estimate.groups, strict=True):
            if cost.seconds > cost.moved_bytes / self.machine.bandwidth_bytes_per_s:
                yield from (each.name for each in group.statements[1:])


def search(program: Program, machine: Machine) -> tuple[Candidate, ...]:
    """Return plans from the fastest to the slowest by the model; the unfused one is the last.

    Args:
        program: Well-formed.
        machine: Rates and limits of the target.

    Raises:
        BrokenPlan: A pass made something that emitters may not be given.
    """
    small = canonical.run(program)
    every = _Search(program, machine)
    grown = every.state(small, Limits(machine))
    best = every.improved(grown)
    found = {"fused": best, "not_inlined": grown}
    folds = frozenset(_after_contractions(best.plan))
    if folds:
        limits = replace(best.limits, alone=best.limits.alone | folds)
        found["apart"] = every.state(best.program, limits)
    names = frozenset(each.name for each in small.statements)
    unfused = every.state(small, Limits(machine, names))
    kept = sorted(_distinct(found), key=lambda each: each.estimate.seconds)
    return tuple(map(_checked, (*kept, Candidate("unfused", unfused.plan, unfused.estimate))))


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


def _is_better(new: Estimate, old: Estimate) -> bool:
    """Say whether a change pays: what only moves arithmetic elsewhere is no reason for one."""
    is_other = new.kernels != old.kernels or new.moved_bytes < old.moved_bytes
    return is_other and new.seconds < old.seconds


def _after_contractions(plan: Plan) -> Iterator[str]:
    """Yield the first fold after each contraction within its kernel."""
    for group in plan.groups:
        folds = [each.name for each in group.statements[1:] if each.reduce]
        if group.family == "contraction" and folds:
            yield folds[0]


def _distinct(found: dict[str, _State]) -> Iterator[Candidate]:
    seen: list[Plan] = []
    for name, state in found.items():
        if all(each.groups != state.plan.groups for each in seen):
            seen.append(state.plan)
            yield Candidate(name, state.plan, state.estimate)


def _checked(candidate: Candidate) -> Candidate:
    check_plan(candidate.plan)
    wellformed.check(candidate.plan.program, made_by=candidate.name)
    return candidate
