"""What a detector is."""

from typing import Protocol

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts


class Detector(Protocol):
    """A module with a name and one function over what a kernel file says."""

    NAME: str

    def detect(self, facts: FileFacts) -> tuple[Issue, ...]:
        """Return the places where this fault is seen; certain ones only."""
        ...


def slow(name: str, line: int, message: str, remedy: str) -> Issue:
    """Build an issue about speed: what was seen there, and what to do about it."""
    return Issue(type=name, severity=Severity.SPEED, message=message, line=line, remedy=remedy)
