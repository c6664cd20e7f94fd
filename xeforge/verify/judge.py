"""Everything recorded about a candidate in, one verdict out."""

from collections.abc import Collection
from collections.abc import Sequence

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
from xeforge.verify.speed import SpeedResult
from xeforge.verify.speed import judge_speed
from xeforge.verify.steadiness import disturbed
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
    """Decide about one candidate: wrong, or right and how fast. The worst complaint decides.

    Args:
        problem: What was asked.
        device: Model that is optimized for.
        candidate: Whose trial.
        against: Whom it is compared with.
        gated: What reading it showed.
        build: Compiler reports; None when it did not get that far.
        evidence: Of its runs; None as well.
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
        evidence=evidence,
        audit=audit,
        trusted=trusted,
        parent_build=parent_build,
        samples=samples,
        ceilings=ceilings,
    )
    findings = worst_first((*gated, *_checked(context)))
    speed = _concluded(context, findings, estimates, incumbent_estimates)
    builds = build.reports if build is not None else ()
    return Trial(candidate, against, speed.verdict, findings, builds, speed.ratio, speed.results)


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
        problem=problem, device=device, build=build, evidence=evidence, audit=audit, trusted=trusted
    )
    return worst_first(_checked(context))


def _checked(context: CheckContext) -> tuple[Finding, ...]:
    """Run all checks; none stops the others."""
    return tuple(check(context) for _, check in CHECKS)


def _concluded(
    context: CheckContext,
    findings: Sequence[Finding],
    estimates: Sequence[Estimate],
    incumbent_estimates: Sequence[Estimate],
) -> SpeedResult:
    """Return the verdict; the speed matters only where nothing else decides."""
    verdict = _fault(findings) or _unproven(context)
    if verdict is not None:
        return SpeedResult(verdict)
    return judge_speed(context, estimates, incumbent_estimates)


def _fault(findings: Sequence[Finding]) -> Verdict | None:
    """Return the rejection that the worst complaint asks for."""
    worst = next((each for each in findings if not each.passed), None)
    if worst is None:
        return None
    reason = Reason(worst.reason) if worst.reason else Reason.NO_RESULT
    return rejected(reason, f"{worst.check}: {worst.message}")


def _unproven(context: CheckContext) -> Verdict | None:
    """Return why nothing can be said about the speed, if so."""
    failure = oracle_failure(context)
    if failure:
        return void(VoidReason.ORACLE_FAILED, failure)
    missing = unverified(context)
    if missing:
        return Verdict(Outcome.UNDECIDED, missing)
    return disturbed(context.samples)
