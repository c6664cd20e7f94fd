"""What the judge sees of one candidate: facts, no opinions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CaseStatus(StrEnum):
    """How a case ended before its values were looked at."""

    RAN = "ran"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    DIED = "died"
    UNCHECKED = "unchecked"
    """It could not be checked here; `message` says why. Never counted as passed or failed."""
    REFERENCE_RAISED = "reference_raised"
    """The oracle refuses these inputs, so nothing can be said."""


@dataclass(frozen=True, slots=True)
class OutputEvidence:
    """One output tensor compared with the oracle, in the oracle's process.

    Attributes:
        index: Position in the returned tuple.
        shape, expected_shape: Sizes.
        dtype, expected_dtype: Torch names.
        strides, expected_strides: In elements.
        device: Where the candidate left it.
        wrong_count: Elements outside the case's tolerance (NaN where none is expected counts).
        unwritten_count: Elements whose value follows the poison put into fresh memory.
        nan_count, expected_nan_count: Elements that are NaN.
        first_wrong: Index of the first wrong element; None when all are right.
        first_got, first_expected: Values there.
        max_abs_error: Against the oracle.
        error: Root mean square error against the float64 oracle, relative to its root mean square.
        reference_error: The same for the reference in its own dtype; None without reference or
            float64.
        scale: Largest magnitude of the oracle's output.
    """

    index: int
    shape: tuple[int, ...]
    expected_shape: tuple[int, ...]
    dtype: str
    expected_dtype: str
    strides: tuple[int, ...]
    expected_strides: tuple[int, ...]
    device: str
    wrong_count: int
    unwritten_count: int
    nan_count: int
    expected_nan_count: int
    first_wrong: tuple[int, ...] | None
    first_got: float | None
    first_expected: float | None
    max_abs_error: float
    error: float
    reference_error: float | None
    scale: float


@dataclass(frozen=True, slots=True)
class MemoryFault:
    """An access outside the tensor it was meant for.

    Attributes:
        access: ``"read"`` or ``"write"``.
        kernel: Jit function.
        line: One-based line in the candidate's file; None when found by guard bands.
        argument: Pointer argument or tensor that was overrun.
        program: Program id, where known.
        offset_bytes: First offending byte, relative to the tensor's start; negative: before it.
    """

    access: str
    kernel: str
    line: int | None
    argument: str
    program: tuple[int, ...]
    offset_bytes: int


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """What happened on one case.

    Attributes:
        case: Case id.
        kind: Value of the case's `CaseKind`.
        fill: Value of the case's `Fill`.
        status: How it ended.
        message: Last words when it did not run; the reason when unchecked.
        line: One-based line in the candidate's file that raised, where known.
        outputs: One per returned tensor.
        output_count, expected_output_count: Length of the returned tuple.
        mutated_inputs: Inputs whose values changed although the reference leaves them alone.
        aliased_outputs: Outputs that share memory with an input although the reference's do not.
        differs_between_runs: The same call gave different bits twice.
        reference_differs_between_runs: The same for the reference.
        stale_outputs: An earlier output changed when the kernel was called again.
        memory_faults: Out-of-bounds accesses.
        redirected_devices: Device names in the file that were replaced by the chosen one.
        seconds: Host time of the call; information only.
    """

    case: str
    kind: str
    fill: str
    status: CaseStatus
    message: str = ""
    line: int | None = None
    outputs: tuple[OutputEvidence, ...] = ()
    output_count: int = 0
    expected_output_count: int = 0
    mutated_inputs: tuple[str, ...] = ()
    aliased_outputs: tuple[int, ...] = ()
    differs_between_runs: bool = False
    reference_differs_between_runs: bool = False
    stale_outputs: bool = False
    memory_faults: tuple[MemoryFault, ...] = ()
    redirected_devices: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class BuildReport:
    """One jit function compiled ahead of time for the target.

    Attributes:
        kernel: Jit function.
        workload: Workload whose launch was compiled.
        constants: Compile-time constants.
        num_warps, num_stages: Launch options.
        registers: 32-bit registers per thread; None when the toolchain does not say.
        spill_bytes: Bytes spilled per thread; None when the toolchain does not say.
        shared_bytes: On-chip memory of one work-group.
        error: Compiler's words when it failed; empty on success.
        line: One-based line the compiler points at.
        seconds: Compile time.
        matrix_instructions: Instructions of the matrix units in the machine code; None unknown.
        is_tuned: One of several autotune configurations: where the device cannot launch it,
            Triton's tuner passes over it.
    """

    kernel: str
    workload: str
    constants: Mapping[str, str]
    num_warps: int
    num_stages: int
    registers: int | None
    spill_bytes: int | None
    shared_bytes: int
    error: str = ""
    line: int | None = None
    seconds: float = 0.0
    matrix_instructions: int | None = None
    is_tuned: bool = False


@dataclass(frozen=True, slots=True)
class BuildEvidence:
    """All launches of all timed workloads, compiled.

    Attributes:
        reports: One per distinct launch and autotune configuration tried.
        message: Why there is no report at all (host code raised before a launch); empty otherwise.
        line: One-based line for `message`.
        skipped: What was left out and why, e.g. autotune configurations beyond the limit.
    """

    reports: tuple[BuildReport, ...]
    message: str = ""
    line: int | None = None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch of one call of ``forward``.

    Attributes:
        kernel: Jit function.
        grid: Programs per dimension.
    """

    kernel: str
    grid: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything about the correctness of one candidate.

    Attributes:
        cases: One per case of the plan, in its order.
        launches: Jit launches of one call on the first case that ran.
        library_calls: Tensor operators that computed something outside jit kernels, sorted names
            such as ``"aten.mm"``; allocation, views and copies are not among them.
        device_copies: Sorted names of operators that copied or cast whole tensors per call.
        state_mismatch: How the candidate's ``state_dict`` differs from the reference's; empty: not.
        interpreted: Values come from Triton's interpreter, not from a device.
        timing_failure: How the candidate failed while it was timed; empty: it did not.
        notes: Anything a reader should know.
    """

    cases: tuple[CaseEvidence, ...]
    launches: tuple[Launch, ...] = ()
    library_calls: tuple[str, ...] = ()
    device_copies: tuple[str, ...] = ()
    state_mismatch: str = ""
    interpreted: bool = False
    timing_failure: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says.

    Attributes:
        check: File name of the check.
        passed: Whether it has nothing to complain about.
        reason: Value of `Reason` when not passed.
        message: With numbers and places.
        line: One-based line in the candidate's file.
        numbers: Measured values behind the message.
    """

    check: str
    passed: bool
    reason: str | None = None
    message: str = ""
    line: int | None = None
    numbers: Mapping[str, float] | None = None
