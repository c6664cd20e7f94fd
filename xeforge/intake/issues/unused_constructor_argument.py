"""A constructor argument has no influence on the result."""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.constructor import constructor_node
from xeforge.source.constructor import unused_arguments
from xeforge.source.facts import FileFacts

NAME: Final = "unused_constructor_argument"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report parameters of ``Model.__init__`` that are never read, or only kept and never read.

    Only a warning: the shapes of inputs and weights may say the same, or the reference may ignore
    it too; the audit runs the kernel with another value to find out.
    """
    constructor = constructor_node(facts.tree, facts.contents)
    if constructor is None:
        return ()
    return tuple(
        Issue(
            type=NAME,
            severity=Severity.WARNING,
            message=f"the constructor argument {name!r} is ignored: nothing reads it",
            line=constructor.lineno,
            remedy=f"use {name} in forward, or hand it to the kernel",
        )
        for name in unused_arguments(facts.tree, facts.contents)
    )
