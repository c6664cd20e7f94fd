"""Which plan: a bounded search over what is inlined, split, and what starts a kernel of its own.

Everything grows together first. Then the changes of `xeforge.fusion.fuse.choices` are taken one by
one, as long as the cost model says that they help. One kernel for each statement is always among
the answers.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion import wellformed
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import choices
from xeforge.fusion.fuse import riders
from xeforge.fusion.fuse.estimate import Estimate
from xeforge.fusion.fuse.estimate import Estimator
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.joins import Joins
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
    notes: tuple[str, ...] = ()


class _Search:
    """Grows plans of one program, up to a number of them."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.machine = machine
        self.joins = Joins(machine)
        self.model = Estimator(program, machine)
        self.left = MOST_TRIALS

    def state(self, program: Program, limits: Limits, notes: tuple[str, ...] = ()) -> _State:
        """Grow the plan of some decisions."""
        self.left -= 1
        plan = grow(program, limits, self.joins)
        plan = replace(plan, notes=(*plan.notes, *notes))
        return _State(program, limits, plan, self.model.estimate(plan), notes)

    def with_riders(self, state: _State) -> _State:
        """Let small kernels ride in the launches of large ones."""
        plan = riders.run(state.plan)
        return replace(state, plan=plan, estimate=self.model.estimate(plan))

    def improved(self, state: _State) -> _State:
        """Take changes that help until none does, or no trial is left."""
        refused: set[choices.Change] = set()
        while True:
            for change, made in self._changes(state, refused):
                if _is_better(made.estimate, state.estimate):
                    wellformed.check(made.program, made_by=made.program.passes[-1])
                    state = made
                    break
                refused.add(change)
            else:
                return state

    def _changes(
        self, state: _State, refused: set[choices.Change]
    ) -> Iterator[tuple[choices.Change, _State]]:
        for change in self._choices(state):
            if self.left <= 0 or change in refused:
                continue
            program: Program | None = state.program
            limits = state.limits
            if isinstance(change, choices.Apart):
                limits = replace(limits, alone=limits.alone | {change.name})
            else:
                program = change.applied(state.program)
            if program is None:
                refused.add(change)
            else:
                yield change, self.state(program, limits, (*state.notes, str(change)))

    def _choices(self, state: _State) -> Iterator[choices.Change]:
        yield from choices.inlinings(state.plan)
        yield from choices.splits(state.plan, state.estimate, self.machine)
        yield from choices.slow_members(state.plan, state.estimate, self.machine)


def search(program: Program, machine: Machine) -> tuple[Candidate, ...]:
    """Return plans from the fastest to the slowest by the model; the unfused one is the last.

    Args:
        program: Well-formed.
        machine: Rates and limits of the target.

    Raises:
        BrokenPlan: A pass made something that emitters may not be given.
        Malformed: A pass made a program that breaks a rule.
    """
    small = canonical.run(program)
    every = _Search(program, machine)
    grown = every.state(small, Limits(machine))
    best = every.improved(grown)
    found = {"fused": best, "grown": grown}
    names = frozenset(each.name for each in small.statements)
    # Partial folds are there only to be part of a contraction.
    folds = choices.folds_in_contractions(best.plan) & names
    if folds:
        limits = replace(best.limits, alone=best.limits.alone | folds)
        notes = (*best.notes, *(str(choices.Apart(name)) for name in sorted(folds)))
        found["apart"] = every.state(best.program, limits, notes)
    unfused = every.state(small, Limits(machine, names))
    if machine.takes_riders:
        found = {name: every.with_riders(state) for name, state in found.items()}
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
