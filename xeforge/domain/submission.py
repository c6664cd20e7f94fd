"""What the user sent, byte for byte."""

from dataclasses import dataclass

from xeforge.domain.device import Backend


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One text file of the user.

    Attributes:
        path: As the user named it; used in messages only, never opened again.
        text: Contents, decoded as UTF-8.
    """

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A request to make a kernel faster.

    Attributes:
        kernel: The working kernel file.
        reference: PyTorch reference with the same interface, if the user has one.
        spec: YAML spec, if the user has one.
        variants: Variants of the spec to optimize for; empty: the spec's own default.
        target: Name of the device model to optimize for.
        backend: Torch device type that candidates run on: ``cuda``, ``xpu`` or ``cpu``.
        stages: Stages to run, by name; empty: all that apply.
        budget_seconds: Wall time for the search; None: no limit.
        budget_trials: Judged candidates; None: no limit.
        rtol, atol: Override the spec's tolerances.
        seed: Makes the search repeatable; test inputs of the confirmation stay fresh.
    """

    kernel: SourceFile
    reference: SourceFile | None
    spec: SourceFile | None
    variants: tuple[str, ...]
    target: str
    backend: Backend
    stages: tuple[str, ...] = ()
    budget_seconds: float | None = None
    budget_trials: int | None = None
    rtol: float | None = None
    atol: float | None = None
    seed: int = 0
