"""What compilers for Intel say of a kernel's launches where no Intel card is, by strength."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from xeforge.domain.device import Device
from xeforge.domain.evidence import Finding

NEVER = (
    "Never shown by any of these: timing, occupancy, correctness on the device, "
    'or "passes on Battlemage".'
)
_TF32 = "tf32 matrix instructions, which the device does not report (a dot of float32 operands)"


class Strength(StrEnum):
    """How strong a statement about an Intel target is, weakest first."""

    PARSED = "parsed"
    """Our own rules walked the kernel's source."""
    LOWERED = "lowered for bmg"
    """triton-xpu made TTGIR, LLVM IR and SPIR-V of it from declared device properties."""
    NATIVE = "native for pvc"
    """ocloc made Ponte Vecchio code of that SPIR-V, with nothing undefined."""
    NUMERICS = "numerics"
    """Values were checked in the interpreter, on the CPU, by a different Triton release."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """One launch as triton-xpu lowered it.

    Attributes:
        dpas_layouts: Layouts of the matrix engine, as TTGIR writes them.
        dpas_calls: Matrix instructions in the LLVM IR.
        dpas_operands: Their operand types, e.g. ``"f16"``.
        block_reads, block_writes, prefetches: 2D block instructions in the LLVM IR.
        slm_bytes: Shared local memory of one work-group.
        sub_group_width: Lanes.
        num_warps: Sub-groups of a work-group.
        num_stages: Of the software pipeline.
        grf_mode: Register file mode: ``small``, ``large``, ``auto`` or ``default``.
        spirv_bytes: Size of the result.
    """

    dpas_layouts: tuple[str, ...]
    dpas_calls: int
    dpas_operands: tuple[str, ...]
    block_reads: int
    block_writes: int
    prefetches: int
    slm_bytes: int
    sub_group_width: int
    num_warps: int
    num_stages: int
    grf_mode: str
    spirv_bytes: int


@dataclass(frozen=True, slots=True)
class Native:
    """The same launch as ocloc compiled it for Ponte Vecchio.

    Attributes:
        fault: Why there is no usable binary; empty: there is one, and the rest is known.
        simd_width: Lanes.
        grf_count: Registers of a hardware thread.
        spilled: As ocloc counts it ("spilled around").
        has_dpas: Whether the code holds matrix instructions.
        undefined: Symbols that nothing defines: such code could not run.
    """

    fault: str
    simd_width: int | None = None
    grf_count: int | None = None
    spilled: int = 0
    has_dpas: bool = False
    undefined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchLowering:
    """One launch of the kernel.

    Attributes:
        kernel: Jit function.
        workload: Workload that launched it first.
        constants: Its compile-time constants.
        lowered: None when it could not be lowered; `refused` says why.
        native: None when not tried: not lowered, or no ocloc here.
        refused: Reason in the words of the compiler.
        broken_limits: Limits of the device that it breaks.
        lowering_doubts: Why the lowered code is not the device's.
        native_doubts: Why the native code proves nothing; "Build succeeded" alone does not.
        reached: The strongest statement that holds.
    """

    kernel: str
    workload: str
    constants: Mapping[str, str]
    lowered: Lowered | None
    native: Native | None
    refused: str
    broken_limits: tuple[str, ...]
    lowering_doubts: tuple[str, ...]
    native_doubts: tuple[str, ...]
    reached: Strength


@dataclass(frozen=True, slots=True)
class Structure:
    """What `xeforge structure --json` prints.

    Attributes:
        kernel: Path.
        device: Name of the model.
        parsed: What our own rules complain about.
        launches: One per distinct launch.
        notes: What was left out, and why.
        never: What none of this says.
    """

    kernel: str
    device: str
    parsed: tuple[Finding, ...]
    launches: tuple[LaunchLowering, ...]
    notes: tuple[str, ...]
    never: str = NEVER


def broken_limits(lowered: Lowered, device: Device) -> tuple[str, ...]:
    """Return which limits of a device a lowered launch breaks."""
    found = []
    limit = device.shared_bytes_per_group
    if limit is not None and lowered.slm_bytes > limit:
        found.append(f"{lowered.slm_bytes} B of SLM, the device gives a work-group {limit} B")
    lanes = lowered.num_warps * lowered.sub_group_width
    if device.threads_per_group is not None and lanes > device.threads_per_group:
        found.append(
            f"work-group of {lowered.num_warps} x {lowered.sub_group_width} = {lanes} lanes, "
            f"the device takes {device.threads_per_group}"
        )
    return tuple(found)


def lowering_doubts(lowered: Lowered, device: Device) -> tuple[str, ...]:
    """Return why lowered code is not the device's; empty: it is, as far as declared.

    triton-xpu 3.3 uses tf32 matrix instructions whatever is declared about them.
    """
    if "tf32" in lowered.dpas_operands and "tf32" not in device.matrix_flops_per_s:
        return (f"{_TF32}; current releases fall back to the vector units there",)
    return ()


def native_doubts(lowered: Lowered, native: Native) -> tuple[str, ...]:
    """Return why native code for Ponte Vecchio proves nothing; empty: it proves what it says."""
    if native.fault:
        return (native.fault,)
    found = []
    if native.undefined:
        count = len(native.undefined)
        found.append(f"{count} undefined symbols: {', '.join(native.undefined)}")
    if lowered.dpas_calls and not native.has_dpas:
        found.append("the matrix instructions of the lowered code are gone")
    return tuple(found)
