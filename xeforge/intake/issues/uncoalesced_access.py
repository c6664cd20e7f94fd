"""Neighbouring lanes touch memory that is no neighbour.

Looks for loads and stores whose every lane is multiplied by something that is certainly more than
one (a constant, a size, the stride of a row), and, in kernels without products, for tiles whose
contiguous axis is shorter than 32 elements. Misses gathers, addresses that are divided or wrapped,
and strides whose value the file does not show. Source: CUDA best practices guide, coalesced access
to global memory: a warp is served in segments of 32 bytes.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import Lane
from xeforge.source.addresses import address_of
from xeforge.source.addresses import lanes_of
from xeforge.source.addresses import made_by
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.strides import certainly_not_one

NAME: Final = "uncoalesced_access"
_SHORT: Final = 32
_TILE_RANK: Final = 2


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each access."""
    found: dict[int, Issue] = {}
    for name, body in facts.bodies.items():
        for call in body.named("load", "store"):
            index = call.place.index
            if made_by(body, call.first, index) is not None:
                continue
            lanes = lanes_of(body, address_of(call), index)
            if not lanes or not all(each.is_plain for each in lanes):
                continue
            why = _why(facts, name, lanes)
            if why:
                pointer = pointer_of(body, call.first, index)
                text = f"{name} touches {pointer} {why}"
                advice = "let neighbouring lanes take neighbouring elements"
                found.setdefault(call.line, slow(NAME, call.line, text, advice))
    return tuple(found.values())


def _why(facts: FileFacts, kernel: str, lanes: tuple[Lane, ...]) -> str:
    scaled = {each: [certainly_not_one(facts, kernel, f) for f in each.factors] for each in lanes}
    if all(any(factors) for factors in scaled.values()):
        factor = ast.unparse(lanes[-1].factors[-1])
        return f"with every lane times {factor}"
    function = facts.contents.jit_function(kernel)
    axes = {each.axis for each in lanes}
    if function is None or function.has_dot or len(axes) < _TILE_RANK:
        return ""
    unit = [each for each, factors in scaled.items() if not factors]
    others = [each for each, factors in scaled.items() if factors and all(factors)]
    if len(unit) != 1 or not others:
        return ""
    if any(ast.unparse(f) == unit[0].extent for each in others for f in each.factors):
        return ""  # whole rows one behind the other: contiguous all the same
    sizes = [
        int(unit[0].extent) if unit[0].extent.isdigit() else setting.values.get(unit[0].extent)
        for setting in facts.settings.get(kernel, ())
    ]
    known = [each for each in sizes if each is not None]
    if known and len(known) == len(sizes) and max(known) < _SHORT:
        return f"in runs of {max(known)} elements"
    return ""
