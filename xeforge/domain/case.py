"""One set of inputs on which a kernel must give the right answer."""

from dataclasses import dataclass
from enum import StrEnum

from xeforge.domain.problem import Argument
from xeforge.domain.problem import TensorSpec


class CaseKind(StrEnum):
    """Why the case is in the plan."""

    DECLARED = "declared"
    """A workload's own shapes."""
    SHRUNK = "shrunk"
    """A workload made small enough for Triton's interpreter; same remainders where possible."""
    RAGGED = "ragged"
    """Sizes that no block divides; required only where the baseline is right."""
    SPECIAL = "special"
    """Unusual values; required only where the baseline is right."""
    ARGUMENT = "argument"
    """A constructor argument changed; audit only."""


class Fill(StrEnum):
    """How floating-point inputs are drawn before the spec's own transforms."""

    RANDOM = "random"
    """Standard normal, or the spec's range."""
    LARGE = "large"
    """Standard normal times 1e4 for 16-bit floats, 1e18 for wider: overflows naive exp and sums."""
    ZEROS = "zeros"
    """All zero: finds divisions by a norm."""
    CONSTANT = "constant"
    """One value everywhere: finds variance cancellation."""
    OFFSET = "offset"
    """Standard normal plus 100: finds cancellation in one-pass variances."""


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs, fully resolved.

    Attributes:
        id: Unique within a plan, e.g. ``"ci[0]/random/seed3"``.
        workload: Name of the workload it was made from.
        kind: Why it is there.
        fill: How values are drawn.
        seed: Of inputs and, with the case's constructor arguments, of weights.
        inputs: As `Workload.inputs`; empty: the kernel file's own ``get_inputs``.
        init_args: As `Workload.init_args`.
        dtype: As `Workload.dtype`.
        memory_format: As `Workload.memory_format`.
        rtol, atol: As `Workload.rtol` and `Workload.atol`.
    """

    id: str
    workload: str
    kind: CaseKind
    fill: Fill
    seed: int
    inputs: tuple[TensorSpec, ...]
    init_args: tuple[Argument, ...] | None
    dtype: str | None
    memory_format: str | None
    rtol: float
    atol: float
