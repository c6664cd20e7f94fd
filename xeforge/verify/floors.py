"""What the hardware allows: times that no correct kernel can beat."""

from collections.abc import Sequence
from math import prod

from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.dtype import DTYPES
from xeforge.domain.dtype import find_dtype
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.problem import Workload
from xeforge.verify.inputs import is_base

PLAUSIBLE_SHARE = 0.98
"""A time below this share of a floor is not believed; clocks and counters are not exact."""

_FASTER_FORMS = {"float32": ("tf32",)}
"""Formats in which matrix units take a product of another; Triton's default for float32."""


def outputs_of(workload: Workload, evidence: Evidence) -> tuple[OutputEvidence, ...]:
    """Return the outputs seen on the workload's own shapes; none when it ran only shrunk."""
    for case in evidence.cases:
        is_own = case.kind == "declared" and case.case.startswith(f"{workload.name}/")
        if is_own and is_base(case.kind) and case.outputs:
            return case.outputs
    return ()


def compulsory_bytes(workload: Workload, outputs: Sequence[OutputEvidence] = ()) -> float | None:
    """Return the traffic any answer needs: inputs read once, outputs written once.

    The spec's own count wins. Without it, inputs beside an index tensor may be read in part
    only, so that nothing is claimed. Weights are not counted: their sizes are not known here.

    Args:
        workload: One entry of the spec.
        outputs: What the kernel was seen to return on these shapes.
    """
    if workload.moved_bytes is not None:
        return workload.moved_bytes
    formats = [find_dtype(spec.dtype) for spec in workload.inputs]
    if not formats or any(each is None or each.kind == "int" for each in formats):
        return None
    given = sum(
        prod(spec.shape) * (each.size_bytes if each else 0)
        for spec, each in zip(workload.inputs, formats, strict=True)
    )
    returned = sum(
        prod(each.expected_shape) * DTYPES[each.expected_dtype].size_bytes
        for each in outputs
        if each.expected_dtype in DTYPES
    )
    return float(given + returned)


def operand_dtype(workload: Workload) -> str:
    """Return the format whose arithmetic rate applies: the module's, else the first float's."""
    if workload.dtype is not None:
        found = find_dtype(workload.dtype)
        return found.name if found is not None else workload.dtype
    formats = (find_dtype(spec.dtype) for spec in workload.inputs)
    floats = (each.name for each in formats if each is not None and each.kind == "float")
    return next(floats, "float32")


def roofline_seconds(
    workload: Workload,
    device: Device,
    ceilings: Ceilings | None = None,
    outputs: Sequence[OutputEvidence] = (),
) -> float | None:
    """Return the time an excellent kernel takes: bytes and arithmetic at attainable rates.

    Measured ceilings where there are any, published peaks otherwise; None when neither traffic
    nor arithmetic of the workload is known.
    """
    moved = compulsory_bytes(workload, outputs)
    times = [] if moved is None else [moved / _copy_rate(device, ceilings)]
    flops = flops_seconds(workload, device, ceilings)
    if flops is not None:
        times.append(flops)
    return max(times, default=None)


def flops_seconds(
    workload: Workload, device: Device, ceilings: Ceilings | None = None
) -> float | None:
    """Return the time the declared arithmetic takes at full rate; None when not known."""
    dtype = operand_dtype(workload)
    if workload.flops is None:
        return None
    rates = [_peak(device, ceilings, name) for name in (dtype, *_FASTER_FORMS.get(dtype, ()))]
    known = [each for each in rates if each is not None]
    return workload.flops / max(known) if known else None


def _peak(device: Device, ceilings: Ceilings | None, dtype: str) -> float | None:
    """Return the best rate for a format: measured where it was, else published."""
    measured = ceilings.matrix_flops_per_s.get(dtype) if ceilings is not None else None
    if measured is not None:
        return measured
    try:
        return device.peak_flops_per_s(dtype)
    except KeyError:
        return None


def hard_floor_seconds(
    workload: Workload,
    device: Device,
    ceilings: Ceilings | None = None,
    outputs: Sequence[OutputEvidence] = (),
) -> float | None:
    """Return the time that physics forbids to beat: compulsory bytes at the best rate.

    The published peak counts when it is above the measured copy, since a copy turns the bus
    around and a kernel that only reads does not. What fits the last-level cache may still be
    there when the clock stops (or starts), so that many bytes are left out.
    """
    moved = compulsory_bytes(workload, outputs)
    if moved is None:
        return None
    rate = max(device.bandwidth_bytes_per_s, _copy_rate(device, ceilings))
    from_memory = max(0.0, moved - device.l2_bytes) / rate
    if device.l2_bandwidth_bytes_per_s is None:
        return from_memory
    return max(from_memory, moved / device.l2_bandwidth_bytes_per_s)


def _copy_rate(device: Device, ceilings: Ceilings | None) -> float:
    return ceilings.copy_bytes_per_s if ceilings is not None else device.bandwidth_bytes_per_s
