"""Everything recorded about a candidate in, one verdict out."""

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import replace

from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.problem import Problem
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import PairedSamples
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import rejected
from xeforge.domain.verdict import void
from xeforge.verify.checks import CHECKS
from xeforge.verify.context import CheckContext
from xeforge.verify.coverage import oracle_failure
from xeforge.verify.coverage import unverified
from xeforge.verify.speed import judge_speed
from xeforge.verify.worst import worst_first


def judge(
    *,
    problem: Problem,
    device: Device,
    candidate: str,
    against: str,
    gated: Sequence[Finding],
    build: BuildEvidence | None,
    evidence: Evidence | None,
    samples: Sequence[PairedSamples],
    estimates: Sequence[Estimate],
    incumbent_estimates: Sequence[Estimate],
    audit: Evidence,
    ceilings: Ceilings | None,
    trusted: Collection[str],
    parent_build: BuildEvidence | None = None,
) -> Trial:
    """Decide about one candidate: wrong, or right and how fast.

    All checks look at everything; the worst complaint decides. Speed is compared only when
    there is none: by samples where there are some, else by estimates.

    Args:
        problem: What was asked.
        device: Model that is optimized for.
        candidate: Whose trial.
        against: Whom it is compared with.
        gated: What reading it showed.
        build: Compiler reports; None when it did not get that far.
        evidence: Of its runs; None when it did not get that far.
        samples: Paired times, the incumbent first.
        estimates: Modelled times, where nothing can be timed.
        incumbent_estimates: The same of the incumbent.
        audit: What the submitted kernel did.
        ceilings: Measured limits of the card, when there is one.
        trusted: Keys of the cases the submitted kernel got right.
        parent_build: Compiler reports of the incumbent, to compare spills with.
    """
    context = CheckContext.of(
        problem=problem,
        device=device,
        build=build,
        parent_build=parent_build,
        evidence=evidence,
        samples=samples,
        audit=audit,
        ceilings=ceilings,
        trusted=frozenset(trusted),
    )
    findings = worst_first((*gated, *(check(context) for _, check in CHECKS)))
    trial = Trial(
        candidate=candidate,
        against=against,
        verdict=_fault(findings) or _unproven(context),
        findings=findings,
        builds=build.reports if build is not None else (),
    )
    if trial.verdict.outcome is not Outcome.UNDECIDED or trial.verdict.message:
        return trial
    speed = judge_speed(context, estimates, incumbent_estimates)
    return replace(trial, verdict=speed.verdict, ratio=speed.ratio, results=speed.results)


def correctness(
    *,
    problem: Problem,
    device: Device,
    build: BuildEvidence | None,
    evidence: Evidence,
    audit: Evidence,
    trusted: Collection[str],
) -> tuple[Finding, ...]:
    """Return what the checks say of a candidate that was not timed yet, worst first."""
    context = CheckContext.of(
        problem=problem,
        device=device,
        build=build,
        parent_build=None,
        evidence=evidence,
        samples=(),
        audit=audit,
        ceilings=None,
        trusted=frozenset(trusted),
    )
    return worst_first(check(context) for _, check in CHECKS)


def _fault(findings: Sequence[Finding]) -> Verdict | None:
    """Return the rejection that the worst complaint asks for."""
    worst = next((each for each in findings if not each.passed), None)
    if worst is None:
        return None
    reason = Reason(worst.reason) if worst.reason else Reason.NO_RESULT
    return rejected(reason, f"{worst.check}: {worst.message}")


def _unproven(context: CheckContext) -> Verdict:
    """Return why nothing can be said, or an undecided verdict without words: compare speed."""
    failure = oracle_failure(context)
    if failure:
        return void(VoidReason.ORACLE_FAILED, failure)
    return Verdict(Outcome.UNDECIDED, unverified(context))
