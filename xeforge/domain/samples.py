"""Raw times with their conditions, and estimates where nothing can be timed."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conditions:
    """State of the card around a timing run.

    Attributes:
        sm_clock_mhz: Sampled SM clock at start and end; empty when not known.
        temperature_c: Sampled at start and end; empty when not known.
        throttle: Reasons named by the driver; empty: none seen.
    """

    sm_clock_mhz: tuple[int, ...] = ()
    temperature_c: tuple[int, ...] = ()
    throttle: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairedSamples:
    """Alternated calls of two kernels on the same fresh inputs, one sample per call.

    All times are seconds. ``first_*`` and ``second_*`` run in parallel: pair *i* used input *i*.

    Attributes:
        workload: Workload name.
        weight: Its share in the geometric mean.
        first_seconds: Device time of the baseline side ("A"), caches flushed.
        second_seconds: Device time of the candidate ("B"), caches flushed.
        first_host_seconds, second_host_seconds: Host time across a device-wide synchronise.
        control_first_seconds, control_second_seconds: A/A control of the same run.
        first_warm_seconds, second_warm_seconds: Median with warm caches; None when not taken.
        first_call_seconds, second_call_seconds: First call: compile, autotune, run.
        outputs_checked: Timed calls whose output was compared with the oracle.
        outputs_wrong: Those that were wrong.
        floor_seconds: Physical floor on this card from measured ceilings; None when unknown.
        conditions: State of the card.
        first_judge_seconds, second_judge_seconds: Per call, by the judge's own clock over batches
            of calls on fresh inputs, the way to the children and back included; empty: not taken.
    """

    workload: str
    weight: float
    first_seconds: tuple[float, ...]
    second_seconds: tuple[float, ...]
    first_host_seconds: tuple[float, ...]
    second_host_seconds: tuple[float, ...]
    control_first_seconds: tuple[float, ...]
    control_second_seconds: tuple[float, ...]
    first_warm_seconds: float | None
    second_warm_seconds: float | None
    first_call_seconds: float
    second_call_seconds: float
    outputs_checked: int
    outputs_wrong: int
    floor_seconds: float | None
    conditions: Conditions
    first_judge_seconds: tuple[float, ...] = ()
    second_judge_seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelWork:
    """What one launch of a kernel does, counted by interpreting a few of its programs.

    Attributes:
        kernel: Jit function.
        programs: Size of the grid.
        loaded_bytes, stored_bytes: Of the whole launch, before any cache.
        unique_bytes: Distinct bytes the launch reads plus distinct bytes it writes, each at most
            what its tensors hold.
        dot_flops: Matrix arithmetic of the whole launch by operand dtype.
        vector_flops: Element-wise and reduction arithmetic of the whole launch by dtype.
        registers, shared_bytes, num_warps: From the build; None when not known.
    """

    kernel: str
    programs: int
    loaded_bytes: float
    stored_bytes: float
    unique_bytes: float
    dot_flops: Mapping[str, float]
    vector_flops: Mapping[str, float]
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    num_warps: int | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Modelled time of one source on one workload. Not a measurement.

    Attributes:
        workload: Workload name.
        weight: Its share in the geometric mean.
        seconds: Modelled time of one call.
        bound: What limits it: ``"memory"``, ``"cache"``, ``"matrix"``, ``"vector"``,
            ``"programs"``, ``"launch"``.
        work: Counted work behind it.
    """

    workload: str
    weight: float
    seconds: float
    bound: str
    work: tuple[KernelWork, ...]
