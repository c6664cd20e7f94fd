"""A kernel that does several operators at once spills registers.

Looks in compiler output for kernels that spill in every configuration tried and hold two products,
a product with further operands, or a reduction over four inputs or more. Misses kernels that were
not built. Source: the compiler's own count of spilled bytes (ptxas, ocloc).
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.spills import is_fused
from xeforge.source.spills import spilling

NAME: Final = "fusion_register_pressure"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each kernel once."""
    found = []
    for name, report in spilling(facts).items():
        kernel = facts.contents.jit_function(name)
        if kernel is not None and is_fused(facts, name):
            found.append(
                slow(
                    NAME,
                    kernel.line,
                    f"{name} does several operators at once and spills {report.spill_bytes} bytes "
                    f"a thread with {report.num_warps} warps",
                    "split it, or take a smaller tile",
                )
            )
    return tuple(found)
