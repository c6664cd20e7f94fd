"""Decides what a job needs next. Does nothing itself."""

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Confirmed
from xeforge.domain.events import JobOutcome
from xeforge.domain.history import History
from xeforge.domain.issue import Severity
from xeforge.domain.stage import Stage
from xeforge.domain.steps import Analyze
from xeforge.domain.steps import Audit
from xeforge.domain.steps import Build
from xeforge.domain.steps import Confirm
from xeforge.domain.steps import Describe
from xeforge.domain.steps import Finish
from xeforge.domain.steps import Gate
from xeforge.domain.steps import Judge
from xeforge.domain.steps import Plan
from xeforge.domain.steps import Propose
from xeforge.domain.steps import Run
from xeforge.domain.steps import Step
from xeforge.pipeline.budget import exhausted
from xeforge.pipeline.budget import remaining_trials
from xeforge.pipeline.roofline import near_roofline
from xeforge.pipeline.stages import STAGE_BY_NAME

MAX_VOIDS = 2
"""Platform faults of one step after which it is not tried again."""


def ready_steps(history: History) -> tuple[Step, ...]:
    """Read the record, name the steps that can be done now.

    A pure function: a worker that died is replaced by one that asks again and is told the same.
    Whoever performs a step appends one event, then calls this once more. Several steps may be
    ready at once; at most one of them needs the device. Empty exactly when the job is finished.
    """
    if history.finished is not None:
        return ()
    steps = _opening(history) or _search(history)
    lost = next((step for step in steps if _is_lost(history, step)), None)
    if lost is not None:
        message = f"step {lost.id} failed {MAX_VOIDS} times through no fault of the kernel"
        return (Finish(JobOutcome.PLATFORM_FAULT, None, message),)
    return steps


def attempt_id(history: History, step: Step) -> str:
    """Return the id under which the present attempt at a step is leased and recorded."""
    voids = history.voids(step.id)
    return step.id if voids == 0 else f"{step.id}#{voids + 1}"


def _is_lost(history: History, step: Step) -> bool:
    """Say whether a step may not be tried again. Candidates' steps end in a void verdict."""
    is_of_candidate = isinstance(step, Gate | Build | Run)
    return not is_of_candidate and history.voids(step.id) >= MAX_VOIDS


def _opening(history: History) -> tuple[Step, ...]:
    """Name the steps before the search, one at a time; empty once they are done."""
    if history.described is None:
        return (Describe(),)
    if history.audited is None:
        return (Audit(),)
    errors = [each for each in history.audited.issues if each.severity is Severity.ERROR]
    if errors:
        message = f"the submitted kernel is wrong: {errors[0].message}"
        return (Finish(JobOutcome.BASELINE_WRONG, None, message),)
    if history.analyzed is None:
        return (Analyze(),)
    if history.planned is None:
        return (Plan(),)
    return ()


def _search(history: History) -> tuple[Step, ...]:
    """Name what the search needs: judge what is there, else propose more, else conclude."""
    stop = (
        exhausted(history)
        or _platform_trouble(history)
        or near_roofline(history)
        or _incomparable(history)
    )
    if stop or history.first(Confirmed) is not None:
        return _waiting_verdicts(history) or _conclude(history, stop or "the search is over")
    if history.unjudged():
        return _judging(history)
    proposal = _proposal(history)
    return (proposal,) if proposal else _conclude(history, "every planned stage is exhausted")


def _judging(history: History) -> tuple[Step, ...]:
    """Name the next step of each waiting candidate; only the first may occupy the device.

    Verdicts come before runs, so that a run is always timed against the present incumbent, and
    runs come in the order of proposal, however long each build takes, so that a repeated search
    meets the same incumbents.
    """
    steps = [next_of(history, each) for each in history.unjudged()]
    judging = tuple(step for step in steps if isinstance(step, Judge))
    if judging:
        return judging[:1]
    others = tuple(step for step in steps if isinstance(step, Gate | Build))
    return (steps[0], *others) if isinstance(steps[0], Run) else others


def _waiting_verdicts(history: History) -> tuple[Step, ...]:
    """Name candidates that ran and still lack a verdict: the device time is spent already."""
    ran = [each for each in history.unjudged() if history.ran(each.id) is not None]
    return tuple(Judge(each.id) for each in ran[:1])


def next_of(history: History, candidate: Candidate) -> Gate | Build | Run | Judge:
    """Name the next step of one candidate that waits for a verdict."""
    gate, build = Gate(candidate.id), Build(candidate.id)
    run = Run(candidate.id, history.incumbent())
    if any(history.voids(step.id) >= MAX_VOIDS for step in (gate, build, run)):
        return Judge(candidate.id)
    gated = history.gated(candidate.id)
    if gated is None:
        return gate
    if not all(finding.passed for finding in gated.findings):
        return Judge(candidate.id)
    built = history.built(candidate.id)
    if built is None:
        return build
    if built.build.message or any(report.error for report in built.build.reports):
        return Judge(candidate.id)
    return run if history.ran(candidate.id) is None else Judge(candidate.id)


def _proposal(history: History) -> Propose | None:
    """Name the next question to a proposer; nothing when all have answered everything.

    Stages are visited in order until each has no more to say. A change that was accepted later
    may have made room for an earlier stage, so those that last spoke about another incumbent are
    asked once more, in order. Attempts are counted over all visits.
    """
    incumbent = history.incumbent()
    open_questions, repeats = [], []
    for stage, proposer in _questions(history):
        rounds = history.rounds(stage.name, proposer)
        limit = _room(history, stage)
        question = Propose(stage.name, proposer, len(rounds), incumbent, limit)
        if limit <= 0:
            continue
        if not rounds or rounds[-1].candidates:
            open_questions.append(question)
        elif rounds[-1].parent != incumbent:
            repeats.append(question)
    return next(iter((*open_questions, *repeats)), None)


def _questions(history: History) -> list[tuple[Stage, str]]:
    """Return every planned stage with each of its proposers, in order."""
    names = history.planned.stages if history.planned else ()
    stages = [STAGE_BY_NAME[name] for name in names]
    return [(stage, proposer) for stage in stages for proposer in stage.proposers]


def _room(history: History, stage: Stage) -> int:
    """Return how many candidates a stage may still have judged now."""
    room = min(stage.batch, stage.attempts - history.spent(stage.name))
    remaining = remaining_trials(history)
    return room if remaining is None else min(room, remaining)


def _platform_trouble(history: History) -> str:
    """Say so when the last three verdicts were all void."""
    last = history.trials()[-3:]
    if len(last) == 3 and all(trial.verdict.void_reason for trial in last):  # noqa: PLR2004
        return f"three candidates in a row were void: {last[-1].verdict.message}"
    return ""


def _incomparable(history: History) -> str:
    """Say so when there is neither a card to time on nor an estimate to compare with."""
    audited = history.audited
    if audited is None:
        return ""
    if not audited.trusted_cases:
        return "the submitted kernel could be shown right on no case here; nothing to compare with"
    if audited.card is not None or audited.estimates:
        return ""
    words = next((each for each in audited.unchecked if "estimated" in each), "")
    return words or "nothing to time and no speed can be estimated for the submitted kernel"


def _conclude(history: History, why: str) -> tuple[Step, ...]:
    """Confirm the incumbent if that was not done, else finish."""
    incumbent = history.incumbent()
    if incumbent != BASELINE_ID:
        if history.confirmation(incumbent) is None:
            return (Confirm(incumbent),)
        return (Finish(JobOutcome.IMPROVED, incumbent, why),)
    if _platform_trouble(history):
        return (Finish(JobOutcome.PLATFORM_FAULT, None, why),)
    return (Finish(JobOutcome.UNCHANGED, None, why),)
