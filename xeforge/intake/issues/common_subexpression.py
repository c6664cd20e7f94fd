"""A kernel loads or computes the same expression twice.

Looks for equal loads and dear functions whose names are not bound anew, and whose memory is not
written, between the two. Misses equal values under different names, and cheap arithmetic, which
LLVM merges. Source: loads are merged by no pass when a store or barrier lies between; a function
of a tile costs registers while both copies live.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody

NAME: Final = "common_subexpression"
_DEAR: Final = (
    *("load", "dot", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos"),
    *("erf", "tanh", "sigmoid"),
)


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the second of two equal expressions."""
    found: dict[int, Issue] = {}
    for body in facts.bodies.values():
        seen: dict[str, Call] = {}
        for call in body.named(*_DEAR):
            text = ast.unparse(call.node)
            first = seen.get(text)
            if first is not None and _is_same(body, first, call):
                found.setdefault(
                    call.line,
                    slow(
                        NAME,
                        call.line,
                        f"{text} is computed at line {first.line} already",
                        "give the first result a name and use it again",
                    ),
                )
            else:
                seen[text] = call
    return tuple(found.values())


def _is_same(body: KernelBody, first: Call, second: Call) -> bool:
    if first.place.loops != second.place.loops:
        return False
    if first.place.branches != second.place.branches[: len(first.place.branches)]:
        return False
    between = range(first.place.index, second.place.index)
    names = {each.id for each in ast.walk(second.node) if isinstance(each, ast.Name)}
    if any(b.place.index in between for name in names for b in body.by_name.get(name, ())):
        return False
    if first.name != "load":
        return True
    pointer = pointer_of(body, second.first, second.place.index)
    return not any(
        pointer_of(body, each.first, each.place.index) in {pointer, None}
        for each in body.calls
        if each.place.index in between
        and (each.name in {"store", "debug_barrier"} or each.name.startswith("atomic_"))
    )
