"""A tile is loaded before a loop that does not use it, and needed after it only.

Looks for loads of whole tiles, outside of loops, whose name is first mentioned behind a loop.
Misses tiles that are changed before the loop under another name, and numbers, which cost one
register. Source: a value occupies registers from its load to its last use; the compiler does not
move a load across a loop that may write memory.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import address_of
from xeforge.source.addresses import made_by
from xeforge.source.addresses import rank_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Binding
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Loop

NAME: Final = "long_liveness"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each load with the loop it waits for."""
    found = []
    for body in facts.bodies.values():
        for call in body.named("load"):
            if call.place.loops or call.place.branches or not _is_tile(body, call):
                continue
            binding = next((b for b in body.bindings if b.place.index == call.place.index), None)
            loop = None if binding is None else _waited_for(body, binding)
            if binding is not None and loop is not None:
                found.append(
                    slow(
                        NAME,
                        call.line,
                        f"{binding.name} is loaded here but first used behind the loop at line "
                        f"{loop.lineno}: it occupies registers all the while",
                        "load it behind the loop",
                    )
                )
    return tuple(found)


def _is_tile(body: KernelBody, call: Call) -> bool:
    index = call.place.index
    if made_by(body, call.first, index) is not None:
        return True
    return rank_of(body, address_of(call), index) > 0


def _waited_for(body: KernelBody, binding: Binding) -> Loop | None:
    """Return a whole loop with loads between a binding and the first mention of its name."""
    mentions = [
        place
        for statement, place in body.statements
        if place.index > binding.place.index and _mentions(statement, binding.name)
    ]
    if not mentions:
        return None
    first = min(mentions, key=lambda each: each.index)
    for loop, place in body.loops:
        if place.loops or not binding.place.index < place.index < first.index:
            continue
        has_loads = any(loop in each.place.loops for each in body.named("load", "dot"))
        if loop not in first.loops and has_loads:
            return loop
    return None


def _mentions(statement: ast.stmt, name: str) -> bool:
    # Of a compound statement only its head: its body comes on its own.
    heads: list[ast.AST] = [statement]
    if isinstance(statement, ast.For):
        heads = [statement.iter]
    elif isinstance(statement, ast.While | ast.If):
        heads = [statement.test]
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
        for head in heads
        for each in ast.walk(head)
    )
