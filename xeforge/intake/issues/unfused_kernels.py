"""Two kernels with matrix products hand a tensor to each other through device memory.

Looks for tensors that one launch with a product writes and one other launch with a product alone
multiplies. Misses tensors with several readers, and products in helper functions. Source: attention
is the known case, arXiv:2205.14135; where the tensor between is small, two kernels may be better.
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.handovers import handovers
from xeforge.source.product_loads import multiplied

NAME: Final = "unfused_kernels"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the second launch."""
    found: dict[int, Issue] = {}
    for scope in facts.scopes:
        for each in handovers(facts, scope):
            first, second = each.first.kernel, each.second.kernel
            if not facts.kind(first) == facts.kind(second) == "product":
                continue
            read = multiplied(facts.bodies[second.name])
            roots = (
                scope.root(value, each.second.site.line)
                for name, value in each.second.arguments.items()
                if name in read
            )
            if each.name in roots:
                line = each.second.site.line
                text = (
                    f"{second.name} multiplies {each.name}, which {first.name} (line "
                    f"{each.first.site.line}) writes for it alone"
                )
                advice = "keep the tile on chip and multiply it there"
                found.setdefault(line, slow(NAME, line, text, advice))
    return tuple(found.values())
