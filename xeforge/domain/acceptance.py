"""What the owner of a card found out with one command, in a form that can be read back."""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.check import Check
from xeforge.domain.device import Backend
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Acceptance:
    """All checks of one card. Holds no name of a person, machine or folder.

    Attributes:
        format: Version of this layout.
        backend: Torch device type that was tried.
        target: Device model whose limits applied.
        card: The unit; its identity is left out.
        ceilings: What it was measured to reach; None when that failed.
        versions: Of XeForge, Python, Torch, Triton, driver and kernel.
        sandbox: Isolation in force.
        created_at_seconds: Unix time.
        notes: What a reader should know.
        checks: In the order they were made.
        passed: Whether every check did.
    """

    format: int
    backend: Backend
    target: str
    card: Card
    ceilings: Ceilings | None
    versions: Mapping[str, str]
    sandbox: str
    created_at_seconds: float
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    passed: bool
