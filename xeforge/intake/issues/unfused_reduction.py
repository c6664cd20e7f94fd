"""A reduction is a kernel or host operation of its own behind the kernel that makes its operand.

Looks for tensors that one kernel writes and one other reads to reduce, and for reductions of the
library on what a kernel wrote; the second stage of a reduction counts, though finishing it in the
first takes atomics. Misses tensors that several kernels read. Source: the tensor between them is
written to device memory and read back.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.handovers import handovers
from xeforge.source.handovers import host_steps

NAME: Final = "unfused_reduction"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each reduction once."""
    found: dict[int, Issue] = {}
    advice = "reduce the tile where it is made"
    for scope in facts.scopes:
        for each in handovers(facts, scope):
            if facts.kind(each.second.kernel) == "reduction":
                line, writer = each.second.site.line, each.first
                text = (
                    f"{each.second.kernel.name} reduces {each.name}, which {writer.kernel.name} "
                    f"(line {writer.site.line}) writes for it alone"
                )
                found.setdefault(line, slow(NAME, line, text, advice))
        for step in host_steps(facts, scope):
            if step.kind == "reduction":
                line = step.node.lineno
                text = f"{ast.unparse(step.node)} reads again what {step.kernel} has written"
                found.setdefault(line, slow(NAME, line, text, advice))
    return tuple(found[line] for line in sorted(found))
