"""What a detector is."""

from typing import Protocol

from xeforge.domain.issue import Issue
from xeforge.source.facts import FileFacts


class Detector(Protocol):
    """A module with a name and one function over what a kernel file says."""

    NAME: str

    def detect(self, facts: FileFacts) -> tuple[Issue, ...]:
        """Return the places where this fault is seen; certain ones only."""
        ...
