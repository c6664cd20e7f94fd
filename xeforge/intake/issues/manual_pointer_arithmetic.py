"""Tiles of pointers are moved on by hand in a loop.

Looks for ``pointers += step`` in a loop, where the name started as a parameter plus lanes. Misses
pointers that are computed anew in each turn (see ``missing_block_pointers``) and plain numbers.
Source: a tile of pointers takes two registers an element; a descriptor or block pointer takes a
few for the whole tile.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import lanes_of
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Binding
from xeforge.source.kernel_body import KernelBody

NAME: Final = "manual_pointer_arithmetic"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the first in each kernel, and name the others."""
    found = []
    for body in facts.bodies.values():
        moved = [each for each in body.bindings if _moves_pointers(body, each)]
        if moved:
            names = ", ".join(dict.fromkeys(each.name for each in moved))
            found.append(
                slow(
                    NAME,
                    moved[0].line,
                    f"{names} moved on by hand in the loop",
                    "use tensor descriptors, or compute offsets from the loop variable",
                )
            )
    return tuple(found)


def _moves_pointers(body: KernelBody, binding: Binding) -> bool:
    if not binding.place.loops or not isinstance(binding.value, ast.BinOp):
        return False
    if not isinstance(binding.value.op, ast.Add | ast.Sub):
        return False
    moves_itself = isinstance(binding.value.left, ast.Name) and (
        binding.value.left.id == binding.name
    )
    started = [
        each
        for each in body.by_name[binding.name]
        if each.place.index < binding.place.index
        and binding.place.loops[-1] not in each.place.loops
    ]
    if not moves_itself or not started or started[-1].value is None:
        return False
    value, index = started[-1].value, started[-1].place.index
    return bool(lanes_of(body, value, index)) and pointer_of(body, value, index) in (
        _pointers(body)
    )


def _pointers(body: KernelBody) -> frozenset[str]:
    """Return the parameters that memory is reached through."""
    return frozenset(
        pointer
        for call in body.calls
        if call.name in {"load", "store"} or call.name.startswith("atomic_")
        if (pointer := pointer_of(body, call.first, call.place.index)) is not None
    )
