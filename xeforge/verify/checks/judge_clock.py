"""Refuse speed that the judge's own clock does not see."""

from collections.abc import Sequence
from statistics import median

from xeforge.domain.evidence import Finding
from xeforge.domain.samples import PairedSamples
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.context import passed_timed

NAME = "judge_clock"
_SLACK_SECONDS = 50e-6
"""Host work per call that one kernel may need more than another: wrappers, larger signatures."""
_SHARE = 0.5
_NOISE_FACTOR = 3.0


def check(context: CheckContext) -> Finding:
    """Ask that a call takes no longer by the judge's clock than what the child reported allows.

    What a call costs beyond the device's time (the way to the child, launching, summing the
    output up) is read off the baseline: ``extra = judged - reported``. A candidate whose extra
    time exceeds that by half of what it claims to save did its work where its own clock did not
    look. Savings below the slack and the noise cannot be resolved this way; the finding says so.
    """
    blind = []
    for each in context.samples:
        if not each.first_judge_seconds or not each.second_judge_seconds:
            continue
        saved = median(each.first_seconds) - median(each.second_seconds)
        room = _SLACK_SECONDS + _NOISE_FACTOR * max(
            _spread(each.first_judge_seconds), _spread(each.second_judge_seconds)
        )
        if saved <= 0:
            continue
        excess = _extra(each.second_judge_seconds, each.second_seconds) - max(
            0.0, _extra(each.first_judge_seconds, each.first_seconds)
        )
        if excess > _SHARE * saved + room:
            return failed(
                NAME,
                Reason.WORK_OUTSIDE_TIMED_REGION,
                _message(each, saved, excess),
                numbers={"saved_seconds": saved, "excess_seconds": excess},
            )
        if _SHARE * saved < room:
            blind.append(f"{each.workload} ({saved * 1e6:,.0f} us)")
    if not blind:
        return passed_timed(context, NAME)
    return passed(NAME, f"too small a saving for the judge's clock to see: {', '.join(blind)}")


def _extra(judged: Sequence[float], reported: Sequence[float]) -> float:
    return median(judged) - median(reported)


def _spread(values: Sequence[float]) -> float:
    """Return the median distance from the median."""
    middle = median(values)
    return median(abs(each - middle) for each in values)


def _message(samples: PairedSamples, saved: float, excess: float) -> str:
    return (
        f"{samples.workload}: {saved * 1e6:,.0f} us saved by the child's clock, but a call takes "
        f"{excess * 1e6:,.0f} us longer by the judge's clock than that allows"
    )
