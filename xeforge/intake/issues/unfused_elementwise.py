"""An element-wise step is a kernel or host operation of its own beside another kernel.

Looks for tensors that one kernel writes and one other reads, where the reader is element-wise (or
the writer is, and the reader multiplies matrices), and for element-wise operations of the library
on what a kernel wrote, or on inputs right before a kernel. Misses tensors that several kernels
read, and steps in different functions. Source: the tensor between them is written to device memory
and read back.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.handovers import handovers
from xeforge.source.handovers import host_steps

NAME: Final = "unfused_elementwise"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each step once."""
    found: dict[int, Issue] = {}
    advice = "do it in the other kernel, on the tile that is there already"
    for scope in facts.scopes:
        for each in handovers(facts, scope):
            writer, reader = facts.kind(each.first.kernel), facts.kind(each.second.kernel)
            step = each.second if reader == "elementwise" else each.first
            if reader == "elementwise" or (writer == "elementwise" and reader == "product"):
                other = each.first if step is each.second else each.second
                text = (
                    f"{step.kernel.name} is element-wise and shares only {each.name} with "
                    f"{other.kernel.name} (line {other.site.line})"
                )
                found.setdefault(step.site.line, slow(NAME, step.site.line, text, advice))
        for step_ in host_steps(facts, scope):
            if step_.kind == "elementwise":
                line = step_.node.lineno
                place = "before" if step_.is_before else "behind"
                text = f"{ast.unparse(step_.node)} is a pass of its own {place} {step_.kernel}"
                found.setdefault(line, slow(NAME, line, text, advice))
    return tuple(found[line] for line in sorted(found))
