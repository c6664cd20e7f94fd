"""Tiles of a matrix product are loaded in a loop without tensor descriptors.

Looks for loads by pointers or block pointers that feed ``tl.dot`` in the same loop. Misses loads
in helper functions, and leaves gathers alone, which descriptors of plain tiles cannot do. Source:
CUDA programming guide, tensor memory access (compute capability 9.0 on); Intel Xe2 2D block loads,
which triton-xpu makes of descriptors. Devices without either gain nothing.
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.product_loads import is_block_pointer
from xeforge.source.product_loads import is_descriptor
from xeforge.source.product_loads import product_loads

NAME: Final = "missing_tma"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the first such load of each kernel."""
    found = []
    for name, body in facts.bodies.items():
        plain = [each for each in product_loads(body) if not is_descriptor(each)]
        if plain:
            way = "a block pointer" if is_block_pointer(body, plain[0]) else "pointers"
            found.append(
                slow(
                    NAME,
                    plain[0].line,
                    f"{name} loads {len(plain)} operands of its product through {way}",
                    "use tensor descriptors where the device has tensor memory access",
                )
            )
    return tuple(found)
