"""Turns a comparison of times into a verdict with numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.domain.samples import Estimate
from xeforge.domain.samples import PairedSamples
from xeforge.domain.trial import WorkloadResult
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Speed
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import rejected
from xeforge.verify.context import CheckContext
from xeforge.verify.faster import Comparison
from xeforge.verify.faster import compare_all
from xeforge.verify.faster import compare_estimates
from xeforge.verify.floors import compulsory_bytes
from xeforge.verify.floors import outputs_of
from xeforge.verify.floors import roofline_seconds

_LEAST_SHARE = 0.5
"""Of the compulsory bytes; counting samples a few programs, so it is not exact."""


@dataclass(frozen=True, slots=True)
class SpeedResult:
    """A verdict with the numbers of the comparison behind it, if there was one.

    Attributes:
        verdict: Accepted, rejected for want of speed, or undecided.
        ratio: Geometric mean over workloads; None when nothing was compared.
        results: Per workload.
    """

    verdict: Verdict
    ratio: Interval | None = None
    results: tuple[WorkloadResult, ...] = ()


def judge_speed(
    context: CheckContext, estimates: Sequence[Estimate], incumbent_estimates: Sequence[Estimate]
) -> SpeedResult:
    """Compare a correct candidate with the incumbent, by measurement where there is one."""
    if context.samples:
        absent = _absent(context, {each.workload for each in context.samples})
        whole, each = compare_all(context.samples)
        return _result(context, whole, each, Grade.MEASURED, absent)
    if estimates:
        hollow = _hollow(context, estimates, incumbent_estimates)
        if hollow:
            return SpeedResult(rejected(Reason.IMPLAUSIBLE_SPEEDUP, hollow))
        absent = _absent(context, {each.workload for each in estimates})
        whole, each = compare_estimates(incumbent_estimates, estimates)
        return _result(context, whole, each, Grade.ESTIMATED, absent)
    return SpeedResult(Verdict(Outcome.UNDECIDED, "right, but its speed was not compared"))


def _hollow(
    context: CheckContext, estimates: Sequence[Estimate], incumbent_estimates: Sequence[Estimate]
) -> str:
    """Say where a candidate was counted doing much less than the answer needs.

    Its values were checked in another run, and code can tell the two apart. The incumbent must
    touch what is asked for: where it does not either, the spec's bytes are what is wrong.
    """
    incumbent = {each.workload: _touched_bytes(each) for each in incumbent_estimates}
    for each in estimates:
        workload = context.workload(each.workload)
        needed = compulsory_bytes(workload) if workload is not None else None
        if not needed or incumbent.get(each.workload, 0.0) < _LEAST_SHARE * needed:
            continue
        touched = _touched_bytes(each)
        if touched < _LEAST_SHARE * needed:
            return (
                f"{each.workload}: its launches were counted touching {touched:.3g} of "
                f"{needed:.3g} compulsory bytes; they are not those that gave the right answer"
            )
    return ""


def _touched_bytes(estimate: Estimate) -> float:
    return sum(work.unique_bytes for work in estimate.work)


def _absent(context: CheckContext, seen: set[str]) -> list[str]:
    return [each.name for each in context.problem.timed if each.name not in seen]


def _result(
    context: CheckContext,
    whole: Comparison,
    each: Sequence[Comparison],
    grade: Grade,
    absent: Sequence[str],
) -> SpeedResult:
    speed = Speed.UNDECIDED if absent and whole.speed is Speed.FASTER else whole.speed
    words = _words(whole, each, grade, speed)
    if absent:
        words += f"; not compared on {', '.join(absent)}"
    results = tuple(_workload_result(context, one) for one in each)
    return SpeedResult(_verdict(speed, words, grade), whole.ratio, results)


def _verdict(speed: Speed, message: str, grade: Grade) -> Verdict:
    if speed is Speed.FASTER:
        return Verdict(Outcome.ACCEPTED, message, grade=grade, speed=speed)
    if speed is Speed.UNDECIDED:
        return Verdict(Outcome.UNDECIDED, message, grade=grade, speed=speed)
    return Verdict(Outcome.REJECTED, message, reason=Reason.NO_SPEEDUP, grade=grade, speed=speed)


def _words(whole: Comparison, each: Sequence[Comparison], grade: Grade, speed: Speed) -> str:
    ratio = whole.ratio
    text = f"{ratio.estimate:.3f}x the incumbent's speed"
    if grade is Grade.ESTIMATED:
        text += " by the cost model (an estimate, not a measurement)"
    else:
        text += (
            f" (95 % interval {ratio.low:.3f} to {ratio.high:.3f}, noise floor "
            f"{100 * whole.noise_floor:.2g} %, least effect {100 * whole.effect:.2g} %, at least "
            f"{whole.pairs} pairs)"
        )
    slower = [one for one in each if one.speed is Speed.SLOWER]
    if speed is Speed.SLOWER and slower:
        names = ", ".join(f"{one.workload} ({one.ratio.estimate:.3f}x)" for one in slower)
        text += f"; slower on {names}"
    return text


def _workload_result(context: CheckContext, one: Comparison) -> WorkloadResult:
    return WorkloadResult(
        workload=one.workload,
        weight=one.weight,
        incumbent_seconds=one.first_seconds,
        candidate_seconds=one.second_seconds,
        ratio=one.ratio,
        floor_seconds=_floor(context, one.workload),
    )


def _floor(context: CheckContext, name: str) -> float | None:
    """Return the floor the bench worked out, else the one that the spec gives."""
    sampled: PairedSamples | None = next(
        (each for each in context.samples if each.workload == name), None
    )
    if sampled is not None and sampled.floor_seconds is not None:
        return sampled.floor_seconds
    workload = context.workload(name)
    if workload is None:
        return None
    outputs = outputs_of(workload, context.audit)
    return roofline_seconds(workload, context.device, context.ceilings, outputs)
