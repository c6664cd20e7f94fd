"""One thing that was tried on a machine, and how it came out."""

from dataclasses import dataclass
from enum import StrEnum


class Basis(StrEnum):
    """What a check rests on; only the first says anything about this machine's clock."""

    MEASURED = "measured"
    """Times taken here, on a device."""
    ESTIMATED = "estimated"
    """A cost model's times; nothing was timed."""
    RECORDED = "recorded"
    """Times taken elsewhere and shipped with the program, through the judge of this one."""
    RAN = "ran"
    """Code was run here, and its answers or its end were looked at."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing tried.

    Attributes:
        name: Stable key.
        passed: Whether it came out as it must.
        basis: What it rests on.
        message: What was seen, with numbers.
        number: The value behind it; None when there is none.
        unit: Of `number`: ``"ratio"``, ``"s"``, ``"bytes/s"``, ...; empty without one.
    """

    name: str
    passed: bool
    basis: Basis
    message: str
    number: float | None = None
    unit: str = ""
