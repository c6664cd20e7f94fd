"""``multiple_of`` or ``max_contiguous`` is applied to a block pointer or descriptor.

Looks for these calls on what ``make_block_ptr``, ``make_tensor_descriptor`` or ``advance`` made.
Misses claims about offsets that are false: only running would tell. Source: Triton's language
reference: both describe the values of a tensor of integers or pointers; a block pointer states
strides and order itself.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import made_by
from xeforge.source.facts import FileFacts

NAME: Final = "block_ptr_multiple_of_misuse"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each call."""
    return tuple(
        slow(
            NAME,
            call.line,
            f"{ast.unparse(call.node)} says nothing about a block pointer",
            "take it out; hint the offsets and strides that go into the pointer instead",
        )
        for body in facts.bodies.values()
        for call in body.named("multiple_of", "max_contiguous", "max_constancy")
        if made_by(body, call.first, call.place.index) is not None
    )
