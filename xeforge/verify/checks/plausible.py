"""Refuse times that the hardware cannot reach; mark those that deserve a second look."""

from statistics import median

from xeforge.domain.evidence import Finding
from xeforge.domain.samples import PairedSamples
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed_timed
from xeforge.verify.floors import PLAUSIBLE_SHARE
from xeforge.verify.floors import flops_seconds
from xeforge.verify.floors import hard_floor_seconds
from xeforge.verify.floors import outputs_of
from xeforge.verify.places import listed

NAME = "plausible"
_REMARKABLE_RATIO = 10.0


def check(context: CheckContext) -> Finding:
    """Compare each median with the floor of the compulsory bytes; note other oddities.

    A floor that the incumbent beats, too, was computed from a wrong spec and refutes nothing.
    """
    notes: list[str] = []
    for each in context.samples:
        workload = context.workload(each.workload)
        if workload is None:
            continue
        seconds = median(each.second_seconds)
        outputs = outputs_of(workload, context.audit)
        floor = hard_floor_seconds(workload, context.device, context.ceilings, outputs)
        if floor is not None and seconds < PLAUSIBLE_SHARE * floor:
            if median(each.first_seconds) >= PLAUSIBLE_SHARE * floor:
                return _impossible(each.workload, seconds, floor)
            notes.append(f"{each.workload}: the spec's traffic is too high, no floor applies")
        notes += _remarks(each, flops_seconds(workload, context.device, context.ceilings))
    return passed_timed(context, NAME, listed(notes, limit=10))


def _impossible(workload: str, seconds: float, floor: float) -> Finding:
    return failed(
        NAME,
        Reason.IMPLAUSIBLE_SPEEDUP,
        f"{workload}: {seconds * 1e6:.4g} us is below the {floor * 1e6:.4g} us that moving the "
        "inputs and outputs takes at the card's best rate",
        numbers={"seconds": seconds, "floor_seconds": floor},
    )


def _remarks(samples: PairedSamples, arithmetic: float | None) -> list[str]:
    seconds = median(samples.second_seconds)
    remarks = []
    if arithmetic is not None and seconds < PLAUSIBLE_SHARE * arithmetic:
        remarks.append(
            f"{samples.workload}: below the {arithmetic * 1e6:.4g} us of the declared arithmetic: "
            "algebraic"
        )
    ratio = median(samples.first_seconds) / seconds
    if ratio > _REMARKABLE_RATIO:
        remarks.append(f"{samples.workload}: {ratio:.1f} times faster: marked for attention")
    return remarks
