"""The closed list of things that can be wrong or slow in a kernel."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad an issue is."""

    ERROR = "error"
    """The kernel is wrong: reported before any optimisation, stops the job."""
    WARNING = "warning"
    """Right here and now, but fragile or portable only by luck."""
    SPEED = "speed"
    """Right, but slower than it could be."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing found in a kernel.

    Attributes:
        type: Name from the closed list (file name of its detector, or an audit check).
        severity: How bad it is.
        message: What is wrong, with numbers.
        line: One-based line in the kernel file; None when no single line is to blame.
        remedy: What to do about it.
    """

    type: str
    severity: Severity
    message: str
    line: int | None = None
    remedy: str = ""
