"""One program computes and stores the column tiles of its row of a matrix product in turn.

Looks for a loop with a product and a store inside whose stored address depends on the loop
variable, which does not start from the program number, and of which no turn needs the one before
(recurrences). Misses loops in helper functions.
Source: the grid then has one program for each row of tiles only; the columns could run on other
multiprocessors at the same time.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Loop

NAME: Final = "serialized_n_tiles"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each such loop."""
    found = []
    for name, body in facts.bodies.items():
        for loop, place in body.loops:
            if isinstance(loop, ast.For) and _is_serial(body, loop, place.index):
                text = ast.unparse(loop.iter)
                found.append(
                    slow(
                        NAME,
                        loop.lineno,
                        f"{name} computes and stores one tile of the result for each of {text}",
                        "give the column tiles an axis of the grid",
                    )
                )
    return tuple(found)


def _is_serial(body: KernelBody, loop: ast.For, index: int) -> bool:
    inside: Loop = loop
    if not any(inside in each.place.loops for each in body.named("dot", "dot_scaled")):
        return False
    if {"program_id()", "num_programs()"} & body.sources(loop.iter, index):
        return False
    if _carries(body, loop):
        return False
    targets = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    for store in body.named("store"):
        where = store.node.args[0] if store.node.args else store.first
        if inside in store.place.loops and where is not None:
            addresses = [where] if store.first is None else [where, store.first]
            if any(targets & body.sources(each, store.place.index) for each in addresses):
                return True
    return False


def _carries(body: KernelBody, loop: Loop) -> bool:
    """Say whether a turn of a loop needs values of the turn before, pointers aside."""
    for each in body.bindings:
        if loop not in each.place.loops or each.value is None:
            continue
        started = [b for b in body.by_name[each.name] if b.place.index < each.place.index]
        is_from_outside = bool(started) and all(loop not in b.place.loops for b in started)
        reads_itself = each.is_step or any(
            isinstance(e, ast.Name) and e.id == each.name for e in ast.walk(each.value)
        )
        is_pointer = pointer_of(body, each.value, each.place.index) is not None
        if is_from_outside and reads_itself and not is_pointer:
            return True
    return False
