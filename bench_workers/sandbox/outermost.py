"""The outermost process of a child, whoever its parent is."""

from typing import IO
from typing import Protocol


class Outermost(Protocol):
    """What is asked of a child's first process; one that was started here has it all.

    Attributes:
        pid: Its number as the host sees it, nobody else's before `wait` has returned.
        stdout: What the child prints.
        stderr: What it prints as errors.
        returncode: How it ended, once it was waited for; None when that cannot be known.
    """

    pid: int
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    @property
    def returncode(self) -> int | None:
        """How it ended."""

    def wait(self) -> object:
        """Wait for its end, and let its number go."""
