"""One function per step: asks the ports, returns the event to record."""

import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.case import Case
from xeforge.domain.events import Analyzed
from xeforge.domain.events import Audited
from xeforge.domain.events import Built
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Event
from xeforge.domain.events import Finished
from xeforge.domain.events import Gated
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Ran
from xeforge.domain.events import Voided
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.problem import Problem
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import KernelWork
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
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import void
from xeforge.domain.wins import RecipeEffect
from xeforge.domain.wins import effects_of
from xeforge.domain.wins import effects_of_confirmation
from xeforge.errors import CandidateError
from xeforge.intake.issues import find_issues
from xeforge.pipeline.asking import ask
from xeforge.pipeline.asking import build_of
from xeforge.pipeline.engine import MAX_VOIDS
from xeforge.pipeline.exercise import counting
from xeforge.pipeline.exercise import unexercised
from xeforge.pipeline.exercise import with_unexercised
from xeforge.pipeline.order import plan
from xeforge.pipeline.parts import Parts
from xeforge.pipeline.reading import READING
from xeforge.ports import TimingPlan
from xeforge.verify import audit
from xeforge.verify import gate
from xeforge.verify import judge
from xeforge.verify.estimate import estimate
from xeforge.verify.inputs import INTERPRETED_PREFIX
from xeforge.verify.inputs import plan_cases
from xeforge.verify.inputs import shapes_of


def perform(history: History, step: Step, parts: Parts) -> Event:  # noqa: C901, PLR0911
    """Do one step and return what came of it.

    Raises:
        UserError: The user's files cannot be used.
        PlatformError: Our own fault.
    """
    match step:
        case Describe():
            return parts.evaluator.describe(history.problem)
        case Audit():
            return _audit(history.problem, parts)
        case Analyze():
            return Analyzed(_issues(history, parts))
        case Plan():
            return _plan(history, parts)
        case Propose():
            with READING:
                return ask(history, step, parts)
        case Gate():
            source = history.candidate(step.candidate).source
            with READING:
                findings = gate.gate(history.problem, source, parts.device)
            return Gated(step.candidate, findings)
        case Build():
            return Built(step.candidate, _build(history.problem, history, step, parts))
        case Run():
            return _run(history, step, parts)
        case Judge():
            with READING:
                trial = _judge(history, step.candidate, parts)
            return Judged(trial, _effects(history, trial))
        case Confirm():
            return _confirm(history, step.candidate, parts)
        case Finish():
            return Finished(JobOutcome(step.outcome), step.winner, step.message)


def _issues(history: History, parts: Parts) -> tuple[Issue, ...]:
    """Have the detectors read the submitted files and what the compiler said of the kernel."""
    problem, audited = history.problem, history.audited
    return find_issues(
        problem.kernel,
        problem.reference,
        build=audited.build if audited else None,
        vendor=parts.device.vendor,
    )


def _audit(problem: Problem, parts: Parts) -> Audited:
    """Check the submitted kernel where it will run and, if elsewhere, in the interpreter too."""
    evaluator, source = parts.evaluator, problem.kernel.text
    is_interpreted = evaluator.is_interpreted
    cases = plan_cases(problem, purpose="audit", interpreted=is_interpreted, seed=problem.seed)
    interpreted = _interpreted_cases(problem) if parts.interpreter else ()
    # Device, interpreter and compiler do not need each other.
    with ThreadPoolExecutor(2) as pool:
        building = pool.submit(evaluator.build, problem, source, problem.timed)
        checking = (
            pool.submit(parts.interpreter.examine, problem, source, interpreted)
            if parts.interpreter
            else None
        )
        evidence = evaluator.examine(problem, source, cases)
        build = building.result()
        if checking is not None:
            cases = (*cases, *interpreted)
            evidence = replace(evidence, cases=(*evidence.cases, *checking.result().cases))
    static = find_issues(problem.kernel, problem.reference)
    report = audit.findings(problem, cases, evidence, build, static)
    unit = evaluator.card()
    estimates, blind = _baseline_estimates(problem, build, parts)
    return Audited(
        issues=report.issues,
        evidence=evidence,
        build=build,
        estimates=estimates,
        trusted_cases=report.trusted_cases,
        unchecked=(*report.unchecked, *blind),
        card=unit[0] if unit else None,
        ceilings=unit[1] if unit else None,
        sandbox=evaluator.sandbox(),
    )


def _interpreted_cases(problem: Problem) -> tuple[Case, ...]:
    """Plan the audit's cases in the interpreter beside those on the device."""
    cases = plan_cases(problem, purpose="audit", interpreted=True, seed=problem.seed)
    return tuple(replace(each, id=f"{INTERPRETED_PREFIX}{each.id}") for each in cases)


def _baseline_estimates(
    problem: Problem, build: BuildEvidence, parts: Parts
) -> tuple[tuple[Estimate, ...], tuple[str, ...]]:
    """Model the submitted kernel's times where nothing is timed; say so when that fails."""
    if not parts.evaluator.is_interpreted:
        return (), ()
    try:
        return _estimates(problem, problem.kernel.text, build, parts), ()
    except CandidateError as error:
        return (), (f"speed cannot be estimated: {error.message}",)


def _plan(history: History, parts: Parts) -> Planned:
    """Choose stages; read what advice was worth so far, once for the whole job."""
    found = history.analyzed.issues if history.analyzed else ()
    stages, reasons = plan(history.problem.stages, {issue.type for issue in found})
    wins = parts.store.wins().get(history.problem.target, {})
    return Planned(tuple(stages), tuple(reasons), wins)


def _effects(history: History, trial: Trial) -> tuple[RecipeEffect, ...]:
    return effects_of(history.candidate(trial.candidate), trial, history.problem.target)


def _build(problem: Problem, history: History, step: Build, parts: Parts) -> BuildEvidence:
    """Compile for the timed shapes, and for those it will be checked on."""
    cases = _candidate_cases(history, step.candidate, parts)
    source = history.candidate(step.candidate).source
    return parts.evaluator.build(problem, source, problem.timed, shapes_of(problem, cases))


def _run(history: History, step: Run, parts: Parts) -> Ran:
    """Check the answers; spend device time on timing only when they are right."""
    problem, evaluator = history.problem, parts.evaluator
    source = history.candidate(step.candidate).source
    evaluator.spending()
    cases = _candidate_cases(history, step.candidate, parts)
    evidence = evaluator.examine(problem, source, cases)
    ran = Ran(step.candidate, step.against, evidence, (), ())
    if _is_correct(history, ran, parts):
        ran = _compared(ran, history, parts.search_timing, parts)
    return replace(ran, spent=evaluator.spending())


def _candidate_cases(history: History, candidate: str, parts: Parts) -> tuple[Case, ...]:
    return plan_cases(
        history.problem,
        purpose="candidate",
        interpreted=parts.evaluator.is_interpreted,
        seed=_case_seed(history.problem.seed, candidate),
        trusted=history.audited.trusted_cases if history.audited else (),
    )


def _compared(ran: Ran, history: History, plan: TimingPlan, parts: Parts) -> Ran:
    """Add samples, or estimates where nothing is timed; failing at it is evidence, too."""
    problem, candidate = history.problem, history.candidate(ran.candidate)
    try:
        if parts.evaluator.is_interpreted:
            build = build_of(history, candidate.id)
            return _estimated(ran, problem, candidate.source, build, parts)
        first = history.candidate(ran.against)
        samples = parts.evaluator.measure(
            problem, first.source, candidate.source, problem.timed, plan
        )
        return replace(ran, samples=samples)
    except CandidateError as error:
        return replace(ran, evidence=replace(ran.evidence, timing_failure=error.message))


def _is_correct(history: History, ran: Ran, parts: Parts) -> bool:
    """Say whether the judge has nothing against the answers, so that timing is worth while."""
    findings = judge.correctness(
        problem=history.problem,
        device=parts.device,
        build=None,
        evidence=ran.evidence,
        audit=history.audited.evidence if history.audited else Evidence(()),
        trusted=history.audited.trusted_cases if history.audited else (),
    )
    return all(finding.passed for finding in findings)


def _case_seed(seed: int, candidate: str) -> int:
    """Give every candidate other inputs, repeatably."""
    return seed * 1000 + 1 + int(candidate.removeprefix("t"))


def _estimated(
    ran: Ran, problem: Problem, source: str, build: BuildEvidence | None, parts: Parts
) -> Ran:
    """Add modelled times; take back what stood for a workload whose kernels it did not run."""
    beside = counting(problem)
    counted = parts.evaluator.count(problem, source, (*problem.timed, *beside))
    with READING:
        missed = unexercised(problem, source, counted)
    evidence = with_unexercised(problem, ran.evidence, missed)
    return replace(ran, evidence=evidence, estimates=_modelled(problem, counted, build, parts))


def _estimates(
    problem: Problem, source: str, build: BuildEvidence | None, parts: Parts
) -> tuple[Estimate, ...]:
    """Model the time of a source on every timed workload."""
    counted = parts.evaluator.count(problem, source, problem.timed)
    return _modelled(problem, counted, build, parts)


def _modelled(
    problem: Problem,
    counted: Sequence[tuple[KernelWork, ...]],
    build: BuildEvidence | None,
    parts: Parts,
) -> tuple[Estimate, ...]:
    return tuple(
        estimate(parts.device, workload, _with_build(works, build, workload.name))
        for workload, works in zip(problem.timed, counted, strict=False)
    )


def _with_build(
    works: tuple[KernelWork, ...], build: BuildEvidence | None, workload: str
) -> tuple[KernelWork, ...]:
    """Add what the compiler said about each launch: registers, spills, on-chip memory, warps."""
    reports = {
        report.kernel: report
        for report in reversed(build.reports if build else ())
        if report.workload == workload and not report.error
    }
    return tuple(
        replace(
            work,
            registers=reports[work.kernel].registers,
            spill_bytes=reports[work.kernel].spill_bytes,
            shared_bytes=reports[work.kernel].shared_bytes,
            num_warps=reports[work.kernel].num_warps,
        )
        if work.kernel in reports
        else work
        for work in works
    )


def _judge(history: History, candidate: str, parts: Parts) -> Trial:
    """Hand everything recorded about a candidate to the judge."""
    voided = _voided(history, candidate)
    if voided is not None:
        return Trial(candidate, history.incumbent(), voided)
    ran = history.ran(candidate)
    gated = history.gated(candidate)
    if ran is None:
        ran = Ran(candidate, history.incumbent(), Evidence(()), (), ())
        return _judged(history, ran, gated.findings if gated else (), parts, has_run=False)
    return _judged(history, ran, gated.findings if gated else (), parts)


def _voided(history: History, candidate: str) -> Verdict | None:
    """Return a void verdict when the platform failed a candidate too often."""
    steps = {f"gate:{candidate}", f"build:{candidate}", f"run:{candidate}"}
    faults = [each for each in history.of(Voided) if each.step in steps]
    if any(history.voids(step) >= MAX_VOIDS for step in steps):
        return void(VoidReason(faults[-1].reason), faults[-1].message)
    return None


def _judged(
    history: History,
    ran: Ran,
    gated: tuple[Finding, ...],
    parts: Parts,
    *,
    has_run: bool = True,
) -> Trial:
    """Ask the judge about one run against one incumbent."""
    audited = history.audited
    return judge.judge(
        problem=history.problem,
        device=parts.device,
        candidate=ran.candidate,
        against=ran.against,
        gated=gated,
        build=build_of(history, ran.candidate),
        evidence=ran.evidence if has_run else None,
        samples=ran.samples,
        estimates=ran.estimates,
        incumbent_estimates=_estimates_of(history, ran.against),
        audit=audited.evidence if audited else Evidence(()),
        ceilings=audited.ceilings if audited else None,
        trusted=audited.trusted_cases if audited else (),
        parent_build=build_of(history, ran.against),
    )


def _estimates_of(history: History, candidate: str) -> tuple[Estimate, ...]:
    """Return the modelled times of a judged candidate or of the baseline."""
    if candidate == BASELINE_ID:
        return history.audited.estimates if history.audited else ()
    ran = history.ran(candidate)
    return ran.estimates if ran else ()


def _confirm(history: History, candidate: str, parts: Parts) -> Confirmed:
    """Check and time the winner in fresh processes on inputs nobody has seen."""
    problem, evaluator = history.problem, parts.evaluator
    source = history.candidate(candidate).source
    seed = secrets.randbelow(2**31)
    cases = plan_cases(
        problem,
        purpose="confirm",
        interpreted=evaluator.is_interpreted,
        seed=seed,
        trusted=history.audited.trusted_cases if history.audited else (),
    )
    ran = Ran(candidate, BASELINE_ID, evaluator.examine(problem, source, cases), (), ())
    ran = _compared(ran, history, replace(parts.confirm_timing, seed=seed), parts)
    trial = _judged(history, ran, (), parts)
    effects = effects_of_confirmation(history.candidate(candidate), trial, problem.target)
    return Confirmed(trial, ran.samples, ran.estimates, effects)
