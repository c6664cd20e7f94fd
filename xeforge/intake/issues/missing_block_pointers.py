"""Two-dimensional tiles of a matrix product are addressed with raw pointers in a loop.

Looks for loads by sums of strides and lanes that feed ``tl.dot`` in the same loop. Misses loads in
helper functions; leaves gathers alone. Source: Triton's language reference,
``tl.make_tensor_descriptor`` and ``tl.make_block_ptr``; triton-xpu makes 2D block loads of these
only.
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.product_loads import is_block_pointer
from xeforge.source.product_loads import is_descriptor
from xeforge.source.product_loads import product_loads

NAME: Final = "missing_block_pointers"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the first such load of each kernel."""
    found = []
    for name, body in facts.bodies.items():
        raw = [
            each
            for each in product_loads(body)
            if not is_descriptor(each) and not is_block_pointer(body, each)
        ]
        if raw:
            lines = ", ".join(str(each.line) for each in raw)
            found.append(
                slow(
                    NAME,
                    raw[0].line,
                    f"{name} computes the address of every element of its tiles (lines {lines})",
                    "describe the matrix once and load blocks of it",
                )
            )
    return tuple(found)
