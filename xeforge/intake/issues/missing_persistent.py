"""A matrix product starts one program for each tile of the result.

Looks for launched kernels that multiply matrices in a loop, whose two tile numbers come from the
program number, and that do not stride over programs. Misses attention and other kernels with one
tile number; says nothing about shapes with few tiles, where there is nothing to gain. Source:
Triton's tutorial 09 (persistent matmul).
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts

NAME: Final = "missing_persistent"
_SIDES: Final = 2


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the first launch of each kernel."""
    found: dict[str, Issue] = {}
    for launch in facts.launches:
        name = launch.kernel.name
        body = facts.bodies[name]
        has_product = any(each.place.loops for each in body.named("dot", "dot_scaled"))
        if name in found or not has_product or facts.is_persistent(name):
            continue
        blocks = {
            each.block
            for each in facts.products(launch.kernel)
            # ``head * length * WIDTH`` finds a matrix, not a tile of it.
            if not any(isinstance(e, ast.Mult) for e in ast.walk(each.factor))
        }
        if len(blocks) >= _SIDES:
            found[name] = slow(
                NAME,
                launch.site.line,
                f"{name} starts a program for each tile of {' x '.join(sorted(blocks))}",
                "start as many programs as the device runs at once and let each loop over tiles",
            )
    return tuple(found.values())
