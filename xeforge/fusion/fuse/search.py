"""Which plan: a bounded search over what is inlined, split, and what starts a kernel of its own.

Everything grows together first. Then the changes of `xeforge.fusion.fuse.choices` are taken one by
one, as long as the cost model says that they help. One kernel for each statement is always among
the answers.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import choices
from xeforge.fusion.fuse.estimate import Estimate
from xeforge.fusion.fuse.estimate import estimate
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
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
        name: ``"fused"``, ``"apart"`` (what follows a fold in a contraction has a kernel of its
            own), ``"grown"`` (nothing inlined or split) or ``"unfused"``.
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
        program, limits, machine = state.program, state.limits, self.machine
        for edge in choices.crossing_edges(state.plan):
            for depth, changed in enumerate(choices.inlined_chain(state.plan, program, edge)):
                if self._may_try((edge, depth), refused):
                    yield (edge, depth), self.state(changed, limits)
        for choice in choices.splits(state.plan, state.estimate, machine):
            if self._may_try(choice, refused):
                yield choice, self.state(choice.applied(program), limits)
        for name in choices.slow_members(state.plan, state.estimate, machine):
            if self._may_try(name, refused):
                alone = replace(limits, alone=limits.alone | {name})
                yield name, self.state(program, alone)

    def _may_try(self, change: object, refused: set[object]) -> bool:
        return self.left > 0 and change not in refused


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
    found = {"fused": best, "grown": grown}
    folds = choices.folds_in_contractions(best.plan)
    if folds:
        limits = replace(best.limits, alone=best.limits.alone | folds)
        found["apart"] = every.state(best.program, limits)
    names = frozenset(each.name for each in small.statements)
    unfused = every.state(small, Limits(machine, names))
    kept = sorted(_distinct(found), key=lambda each: each.estimate.seconds)
    return tuple(map(_checked, (*kept, Candidate("unfused", unfused.plan, unfused.estimate))))


def _is_better(new: Estimate, old: Estimate) -> bool:
    """Say whether a change pays: what only moves arithmetic elsewhere is no reason for one."""
    is_other = new.kernels != old.kernels or new.moved_bytes < old.moved_bytes
    return is_other and new.seconds < old.seconds


def _distinct(found: Mapping[str, _State]) -> Iterator[Candidate]:
    seen: list[Plan] = []
    for name, state in found.items():
        if all(each.groups != state.plan.groups for each in seen):
            seen.append(state.plan)
            yield Candidate(name, state.plan, state.estimate)


def _checked(candidate: Candidate) -> Candidate:
    check_plan(candidate.plan)
    return candidate
