"""What a report says, before it is rendered: plain values derived from the history."""

from dataclasses import dataclass

from xeforge.domain.case import CaseKind
from xeforge.domain.device import Card
from xeforge.domain.device import Device
from xeforge.domain.events import Audited
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Proposed
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.history import History
from xeforge.domain.isolation import caution
from xeforge.domain.issue import Issue
from xeforge.domain.problem import Workload
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.pipeline.certificate import claim
from xeforge.pipeline.certificate import scope_of
from xeforge.report.diff import unified
from xeforge.verify.inputs import case_key

FORMAT = 1


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One judged candidate for a table.

    Attributes:
        candidate, parent, stage, proposer, because, recipes: As in the candidate.
        outcome: ``"accepted"``, ``"rejected"``, ``"undecided"`` or ``"void"``.
        reason: Reason class, or ``""``.
        grade: ``"measured"``, ``"estimated"`` or ``""``.
        against: Incumbent it was compared with.
        ratio, ratio_low, ratio_high: Incumbent time over candidate time; None when not compared.
        message: What the judge said.
        device_seconds: How long it was run, checked and timed; None: not run.
        harness_seconds: Of these, neither import, nor compilation, nor timed runs.
    """

    candidate: str
    parent: str
    stage: str
    proposer: str
    because: str
    outcome: str
    reason: str
    grade: str
    against: str
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    message: str
    device_seconds: float | None = None
    harness_seconds: float | None = None
    recipes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """Speed of the winner on one workload, against the submitted kernel.

    Attributes:
        workload: Workload name.
        dims: ``"M=4096, N=4096"``.
        baseline_seconds, winner_seconds: Median, or modelled.
        ratio, ratio_low, ratio_high: Baseline over winner.
        floor_seconds: Physical floor, when known.
        flops, moved_bytes: As declared, when known.
    """

    workload: str
    dims: str
    baseline_seconds: float
    winner_seconds: float
    ratio: float
    ratio_low: float
    ratio_high: float
    floor_seconds: float | None
    flops: float | None
    moved_bytes: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the three renderings show.

    Attributes:
        format: Version of this layout.
        job: Job id.
        kernel, reference: Paths as given; reference empty when there is none.
        outcome: How the job ended; ``"interrupted"`` when it has not.
        headline: The claim, or why there is none; says measured or estimated.
        grade: Of the claim, or ``""``.
        why_stopped: What ended the search.
        device, backend: Model optimized for, and what candidates ran on.
        card: Unit that measured.
        sandbox: Isolation in force.
        issues: From the audit and the analysis.
        unchecked: What could not be checked and why.
        cases_right, cases_run: Kinds of input the baseline got right, of those it was judged on.
        plan: Stages with reasons.
        trials: In order.
        workloads: Winner against baseline.
        diff: Unified diff from baseline to winner; empty without winner.
        notes: Decisions made while reading.
        elapsed_seconds: Wall time of the search.
    """

    format: int
    job: str
    kernel: str
    reference: str
    outcome: str
    headline: str
    grade: str
    why_stopped: str
    device: str
    backend: str
    card: Card | None
    sandbox: str
    issues: tuple[Issue, ...]
    unchecked: tuple[str, ...]
    cases_right: int
    cases_run: int
    plan: tuple[str, ...]
    trials: tuple[TrialRow, ...]
    workloads: tuple[WorkloadRow, ...]
    diff: str
    notes: tuple[str, ...]
    elapsed_seconds: float


def build_report(history: History, device: Device) -> Report:
    """Derive a report from what is recorded, finished or not."""
    problem, audited, finished = history.problem, history.audited, history.finished
    confirmed = _confirmed(history)
    found = (audited.issues if audited else ()) + (
        history.analyzed.issues if history.analyzed else ()
    )
    return Report(
        format=FORMAT,
        job=history.job,
        kernel=problem.kernel.path,
        reference=problem.reference.path if problem.reference else "",
        outcome=finished.outcome if finished else "interrupted",
        headline=headline(history, device),
        grade=str(confirmed.trial.verdict.grade or "") if confirmed else "",
        why_stopped=finished.message if finished else "interrupted; resume to go on",
        device=device.title,
        backend=problem.backend,
        card=audited.card if audited else None,
        sandbox=audited.sandbox if audited else "",
        issues=tuple(dict.fromkeys(found)),
        unchecked=audited.unchecked if audited else (),
        cases_right=len(audited.trusted_cases) if audited else 0,
        cases_run=cases_run(audited) if audited else 0,
        plan=history.planned.reasons if history.planned else (),
        trials=tuple(_trial_row(history, trial) for trial in history.trials()),
        workloads=_workload_rows(history, confirmed),
        diff=_diff(history),
        notes=(*problem.notes, *(words for each in history.of(Proposed) for words in unsaid(each))),
        elapsed_seconds=history.elapsed_seconds(),
    )


def cases_run(audited: Audited) -> int:
    """Count the kinds of input on which the submitted kernel could be judged.

    Draws of one kind with several seeds count once; changed constructor arguments, inputs that
    the reference refuses and what could not be checked do not count.
    """
    silent = {CaseStatus.REFERENCE_RAISED, CaseStatus.UNCHECKED}
    return len(
        {
            case_key(each.case)
            for each in audited.evidence.cases
            if each.kind != CaseKind.ARGUMENT and each.status not in silent
        }
    )


def unsaid(event: Proposed) -> tuple[str, ...]:
    """Say why a proposer had nothing, and what it left out on advice, if it said so."""
    who = f"{event.proposer} in stage {event.stage}"
    left_out = tuple(f"{who} leaves out {each.change}: {each.reason}" for each in event.skipped)
    if event.declined is None:
        return left_out
    reason, message = event.declined.reason, event.declined.message
    return (f"{who} proposes nothing: {reason}: {message}", *left_out)


def headline(history: History, device: Device) -> str:
    """Say what came out in one sentence; and that no walls stood, if so."""
    confirmed, audited = _confirmed(history), history.audited
    if confirmed is not None and audited is not None:
        scope = scope_of(history, confirmed.trial.candidate)
        return claim(confirmed.trial, device, audited.card, audited.sandbox, scope=scope)
    words = caution(audited.sandbox) if audited else ""
    return _outcome(history) + (f"; {words}" if words else "")


def _outcome(history: History) -> str:
    finished = history.finished
    if finished is not None:
        return f"{finished.outcome.replace('_', ' ')}: {finished.message}"
    incumbent = history.incumbent()
    trial = history.trial(incumbent)
    if trial is None or trial.ratio is None:
        return "interrupted before anything better was found"
    return f"interrupted; {incumbent} is the best so far, NOT confirmed yet"


def _confirmed(history: History) -> Confirmed | None:
    finished = history.finished
    if finished is None or finished.winner is None:
        return None
    return history.confirmation(finished.winner)


def _trial_row(history: History, trial: Trial) -> TrialRow:
    candidate, verdict = history.candidate(trial.candidate), trial.verdict
    ratio = trial.ratio
    ran = history.ran(trial.candidate)
    spent = ran.spent if ran else None
    return TrialRow(
        candidate=candidate.id,
        parent=candidate.parent,
        stage=candidate.stage,
        proposer=candidate.proposer,
        because=candidate.because,
        outcome=verdict.outcome,
        reason=str(verdict.reason or verdict.void_reason or ""),
        grade=str(verdict.grade or ""),
        against=trial.against,
        ratio=ratio.estimate if ratio else None,
        ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None,
        message=verdict.message,
        device_seconds=spent.total_seconds if spent else None,
        harness_seconds=spent.harness_seconds if spent else None,
        recipes=candidate.recipes,
    )


def _workload_rows(history: History, confirmed: Confirmed | None) -> tuple[WorkloadRow, ...]:
    if confirmed is None:
        return ()
    known: dict[str, Workload] = {each.name: each for each in history.problem.workloads}
    return tuple(
        WorkloadRow(
            workload=each.workload,
            dims=", ".join(f"{k}={v}" for k, v in known[each.workload].dims.items()),
            baseline_seconds=each.incumbent_seconds,
            winner_seconds=each.candidate_seconds,
            ratio=each.ratio.estimate,
            ratio_low=each.ratio.low,
            ratio_high=each.ratio.high,
            floor_seconds=each.floor_seconds,
            flops=known[each.workload].flops,
            moved_bytes=known[each.workload].moved_bytes,
        )
        for each in confirmed.trial.results
    )


def _diff(history: History) -> str:
    """Return the change from the submitted kernel to the winner, or to the best so far."""
    finished = history.finished
    best = finished.winner if finished else history.incumbent()
    if best is None or best == history.baseline.id:
        return ""
    path = history.problem.kernel.path
    return unified(history.problem.kernel.text, history.candidate(best).source, path)


def is_estimate(report: Report) -> bool:
    """Say whether the claim is a cost model's, so that every view can label it."""
    return report.grade == Grade.ESTIMATED


def accepted(report: Report) -> tuple[TrialRow, ...]:
    """Return the steps that led to the winner."""
    return tuple(row for row in report.trials if row.outcome == Outcome.ACCEPTED)
