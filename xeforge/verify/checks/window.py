"""Refuse device time that was saved on paper only: work beside or after the timed window."""

from collections.abc import Sequence
from statistics import median

from xeforge.domain.evidence import Finding
from xeforge.domain.samples import PairedSamples
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed_timed

NAME = "window"
_HOST_NOISE_SECONDS = 100e-6
"""Launching costs this much more or less without meaning anything."""
_LEAST_SHARE = 0.5


def check(context: CheckContext) -> Finding:
    """Ask that time saved on the device's clock is saved on the judge's clock, too.

    The judge's clock runs until the whole device is idle, so work on another stream or after
    the last event shows there.
    """
    for each in context.samples:
        saved = _saved(each.first_seconds, each.second_seconds)
        seen = _saved(each.first_host_seconds, each.second_host_seconds)
        if saved - seen > _HOST_NOISE_SECONDS and seen < _LEAST_SHARE * saved:
            return failed(
                NAME,
                Reason.WORK_OUTSIDE_TIMED_REGION,
                _message(each, saved, seen),
                numbers={"saved_seconds": saved, "host_saved_seconds": seen},
            )
    return passed_timed(context, NAME)


def _saved(first: Sequence[float], second: Sequence[float]) -> float:
    return median(first) - median(second) if first and second else 0.0


def _message(samples: PairedSamples, saved: float, seen: float) -> str:
    return (
        f"{samples.workload}: the device's clock shows {saved * 1e6:,.0f} us less than the "
        f"incumbent, the host's clock only {seen * 1e6:,.0f} us"
    )
