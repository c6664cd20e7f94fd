"""A cost model: counted work in, modelled seconds out. It ranks; it does not measure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from math import inf

from xeforge.domain.device import Device
from xeforge.domain.problem import Workload
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import KernelWork

_USUAL_WARPS = 4
"""Triton's default, used when no build says otherwise."""
_MEMORY_SHARE = 0.9
"""Part of peak bandwidth that a good kernel reaches (copies on current cards: 0.85 to 0.93)."""
_MATRIX_SHARE = 0.75
"""Part of peak matrix rate that a good kernel reaches."""
_CACHE_PER_MEMORY = 2.5
"""Cache over memory bandwidth where a device does not state it; 2 to 4 on current cards."""
_THREADS_TO_STREAM = 0.125
"""Share of resident threads below which loads in flight no longer fill the bus."""
_WARPS_TO_MULTIPLY = 4
"""Warps per compute unit that keep all its matrix units busy: one for each scheduler."""
_OVERLAP_LOSS = 0.25
"""Part of the lesser times that the greatest does not hide: loads wait for products and back."""
_SPILL_BYTES_DOUBLING = 128
"""Spilled bytes per thread that about double the time of the loop they sit in."""
_STAND_INS: Mapping[str, tuple[str, ...]] = {
    "float32": ("tf32",),
    "tfloat32": ("tf32",),
    "bfloat16": ("float16",),
    "float16": ("bfloat16",),
    "float8_e4m3fn": ("float8_e5m2", "float16", "bfloat16"),
    "float8_e5m2": ("float8_e4m3fn", "float16", "bfloat16"),
    "int8": ("float8_e4m3fn", "float16", "bfloat16"),
}
"""Rates used when a device does not state one: same width first, then the next wider."""


@dataclass(frozen=True, slots=True)
class _Fill:
    """How well a launch fills the device.

    Attributes:
        rounds: Bus time lost because the last round of resident programs is not full; >= 1.
        tail: Arithmetic time lost because units get unequal numbers of programs; >= 1.
        streaming: Share of bandwidth its threads can ask for; at most 1.
        multiplying: Share of the matrix units its warps keep busy; at most 1.
    """

    rounds: float
    tail: float
    streaming: float
    multiplying: float


def estimate(device: Device, workload: Workload, works: tuple[KernelWork, ...]) -> Estimate:
    """Model the time of one call: the launches one after the other.

    Each launch takes as long as the slowest of memory, cache, matrix and vector units and the
    starting of its programs, a part of what the others need, and the launch itself.

    Args:
        device: Target.
        workload: Names the result.
        works: Counted launches; none: no time can be modelled, and it is infinite.
    """
    parts = dict.fromkeys(("memory", "cache", "matrix", "vector", "programs", "launch"), 0.0)
    for work in works:
        times = launch_times(device, work)
        bound = max(times, key=lambda name: times[name])
        hidden = sum(times.values()) - times[bound]
        parts[bound] += times[bound] + _OVERLAP_LOSS * hidden
        parts["launch"] += device.launch_seconds
    return Estimate(
        workload=workload.name,
        weight=workload.weight,
        seconds=sum(parts.values()) if works else inf,
        bound=max(parts, key=lambda name: parts[name]) if works else "launch",
        work=works,
    )


def launch_times(device: Device, work: KernelWork) -> dict[str, float]:
    """Return the seconds each part of the device needs for one launch, without launch cost."""
    fill = _fill(device, work)
    spill = 1 + (work.spill_bytes or 0) / _SPILL_BYTES_DOUBLING
    bus, arithmetic = spill * fill.rounds / fill.streaming, spill * fill.tail
    total = work.loaded_bytes + work.stored_bytes
    cache = device.l2_bandwidth_bytes_per_s or _CACHE_PER_MEMORY * device.bandwidth_bytes_per_s
    memory = device.bandwidth_bytes_per_s * _MEMORY_SHARE
    matrix = sum(
        flops / _matrix_rate(device, dtype, fill) for dtype, flops in work.dot_flops.items()
    )
    vector = sum(flops / _vector_rate(device, dtype) for dtype, flops in work.vector_flops.items())
    return {
        "memory": bus * memory_bytes(device, work) / memory,
        "cache": bus * total / cache,
        "matrix": arithmetic * matrix,
        "vector": arithmetic * vector,
        "programs": work.programs / device.groups_per_s if device.groups_per_s else 0.0,
    }


def memory_bytes(device: Device, work: KernelWork) -> float:
    """Return the bytes a launch moves to and from device memory: modelled, not counted.

    At least each distinct byte once. At most all accesses, and no more than each distinct byte
    in every round of resident programs, since those share the cache. Between the two lies the
    truth; where the data does not fit the cache, their geometric mean is taken.
    """
    total = work.loaded_bytes + work.stored_bytes
    unique = min(work.unique_bytes, total)
    if unique <= device.l2_bytes:
        return unique
    rounds = max(1.0, work.programs / (device.compute_units * resident_groups(device, work)))
    missing = 1 - device.l2_bytes / unique
    return float(unique * (min(total / unique, rounds) ** (missing / 2)))


def resident_groups(device: Device, work: KernelWork) -> int:
    """Return how many programs one compute unit holds at a time; at least one."""
    threads = _threads(device, work)
    limits = [
        _quotient(device.groups_per_unit, 1),
        _quotient(device.threads_per_unit, threads),
        _quotient(device.registers_per_unit, (work.registers or 0) * threads),
        _quotient(device.shared_bytes_per_unit, work.shared_bytes or 0),
    ]
    return max(1, min((each for each in limits if each is not None), default=1))


def _quotient(have: int | None, need: int) -> int | None:
    return None if have is None or need <= 0 else have // need


def _threads(device: Device, work: KernelWork) -> int:
    lanes = device.lane_counts[-1] if device.lane_counts else 1
    if device.compile_target is not None:
        lanes = device.compile_target.warp_size
    return (work.num_warps or _USUAL_WARPS) * lanes


def _fill(device: Device, work: KernelWork) -> _Fill:
    programs, units = max(1, work.programs), device.compute_units
    resident = resident_groups(device, work)
    slots = units * resident
    streaming = 1.0
    if device.threads_per_unit:
        running = min(programs, slots) * _threads(device, work)
        streaming = running / (units * device.threads_per_unit * _THREADS_TO_STREAM)
    warps = min(resident, ceil(programs / units)) * (work.num_warps or _USUAL_WARPS)
    return _Fill(
        rounds=ceil(programs / slots) * slots / programs if programs > slots else 1.0,
        tail=ceil(programs / units) * units / programs,
        streaming=min(1.0, streaming),
        multiplying=min(1.0, warps / _WARPS_TO_MULTIPLY),
    )


def _matrix_rate(device: Device, dtype: str, fill: _Fill) -> float:
    for name in (dtype, *_STAND_INS.get(dtype, ())):
        if name in device.matrix_flops_per_s:
            return device.matrix_flops_per_s[name] * _MATRIX_SHARE * fill.multiplying
    return _vector_rate(device, dtype)


def _vector_rate(device: Device, dtype: str) -> float:
    """Return the stated rate, else that of float32, which everything narrower is widened to."""
    rates = device.vector_flops_per_s
    found = rates.get(dtype) or rates.get("float32") or max(rates.values(), default=None)
    if found is None:
        # Nothing stated: a hundred operations per byte keeps memory the likelier limit.
        return 100 * device.bandwidth_bytes_per_s
    return found
