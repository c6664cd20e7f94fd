"""Why a proposer has nothing to propose, in one typed line."""

from dataclasses import dataclass
from enum import StrEnum


class DeclineReason(StrEnum):
    """What stands in a proposer's way; never a fault of the job."""

    NO_REFERENCE = "no_reference"
    """It works from a PyTorch reference, and there is none."""
    ENTRY = "entry"
    """The kernel is entered in a way that it cannot add to."""
    STATE = "state"
    """Kernel and reference do not keep their weights under the same names."""
    REFUSED = "refused"
    """The reference has no form that it could work from."""
    TARGET = "target"
    """It makes nothing for this device, or cannot reach what it needs here."""
    UNCHECKABLE = "uncheckable"
    """What it would make could not be checked here."""
    NOTHING_NEW = "nothing_new"
    """It said before all that it has to say."""
    OWN_FAULT = "own_fault"
    """It failed, which is a fault of the proposer and not of the kernel."""


@dataclass(frozen=True, slots=True)
class Declined:
    """An answer without proposals.

    Attributes:
        reason: Class of the obstacle.
        message: The obstacle, one sentence.
    """

    reason: DeclineReason
    message: str
