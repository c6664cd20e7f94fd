"""The question after reading: what to compute, on which shapes, how exactly, how fast."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from typing import Union

from xeforge.domain.device import Backend
from xeforge.domain.submission import SourceFile

Scalar: TypeAlias = bool | int | float | str
Argument: TypeAlias = Union[Scalar, tuple["Argument", ...]]
"""A constructor argument as YAML can give it: a scalar or a (nested) list."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One input tensor, fully resolved.

    Attributes:
        name: Name in the spec.
        shape: Sizes in elements.
        dtype: Torch name.
        range: Half-open for integers ``[lo, hi)``, closed for floats; None: standard normal
            floats, integers in ``[0, 2)``.
        transforms: Applied in order to the drawn values: ``scale, softmax, abs, normalize,
            symmetric, triu, tril, transpose, uniform, rademacher``.
        dims: Name of the dimension behind each size of `shape` (``"N"``); ``""`` where the size
            is a literal.
        range_dims: Likewise for each bound of `range`: indices below ``V`` stay below it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    range: tuple[float, float] | None = None
    transforms: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    range_dims: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Workload:
    """One entry of one variant: a set of shapes the kernel must be right and fast on.

    Attributes:
        name: ``variant[index]``, e.g. ``"bench-gpu[0]"``.
        variant: Variant it belongs to; ``"file"`` when the kernel's own ``get_inputs`` is used.
        inputs: In argument order; empty when `from_file`.
        init_args: Positional constructor arguments; None when the file's ``get_init_inputs`` (or
            nothing) supplies them.
        dtype: The module is cast to it; None: left alone.
        dims: Values of the named dimensions.
        init_dims: Name of the dimension behind each constructor argument; ``""`` for literals.
        rtol, atol: Element-wise tolerance ``|got - expected| <= atol + rtol * |expected|``.
        flops: Arithmetic the answer requires; None when not known.
        moved_bytes: Compulsory traffic; None when not known.
        memory_format: ``channels_last``, ``channels_last_3d`` or None.
        weight: Share in the weighted geometric mean of speed-ups.
        is_timed: Verified and timed; otherwise verified only.
        from_file: Inputs come from the kernel file's ``get_inputs()``.
    """

    name: str
    variant: str
    inputs: tuple[TensorSpec, ...]
    init_args: tuple[Argument, ...] | None
    dtype: str | None
    dims: Mapping[str, Argument]
    init_dims: tuple[str, ...] = ()
    rtol: float = 1e-2
    atol: float = 1e-5
    flops: float | None = None
    moved_bytes: float | None = None
    memory_format: str | None = None
    weight: float = 1.0
    is_timed: bool = True
    from_file: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything about a job that never changes after reading.

    Attributes:
        kernel: The submitted kernel: baseline of every claim.
        reference: Oracle; None: the submitted kernel itself is the oracle, so that only
            self-evident faults can be found.
        workloads: All variants of the spec; those with `is_timed` decide the speed.
        target: Name of the device model that is optimized for.
        backend: Torch device type that runs candidates.
        stages: Stages asked for; empty: all that apply.
        budget_seconds, budget_trials: Limits of the search; None: none.
        seed: Seed of the search.
        notes: What reading had to decide, for the user (strictness, defaults).
    """

    kernel: SourceFile
    reference: SourceFile | None
    workloads: tuple[Workload, ...]
    target: str
    backend: Backend
    stages: tuple[str, ...] = ()
    budget_seconds: float | None = None
    budget_trials: int | None = None
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def timed(self) -> tuple[Workload, ...]:
        """Workloads that decide the speed."""
        return tuple(each for each in self.workloads if each.is_timed)
