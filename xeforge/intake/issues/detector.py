"""What a detector is."""

import ast
from typing import Protocol

from xeforge.domain.issue import Issue
from xeforge.source.contents import KernelContents


class Detector(Protocol):
    """A module with a name and one function over the syntax tree of a kernel file."""

    NAME: str

    def detect(
        self, contents: KernelContents, tree: ast.Module, reference: KernelContents | None
    ) -> tuple[Issue, ...]:
        """Return the places where this fault is seen; certain ones only.

        Args:
            contents: What the kernel file declares.
            tree: Its syntax tree.
            reference: What the reference declares, if there is one.
        """
        ...
