"""The number of warps does not suit the tile.

Looks for more lanes than elements, and for more than 128 accumulators (64 elements without
products) a lane while fewer than eight warps are used. Misses tiles and warps that are computed at
run time. Source: lanes without elements compute copies of others' (Triton's blocked layouts wrap
around); 255 registers a thread bound what a lane can hold (CUDA programming guide).
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.accumulators import accumulated
from xeforge.source.facts import FileFacts
from xeforge.source.settings import DEFAULT_WARPS
from xeforge.source.settings import Setting

NAME: Final = "suboptimal_warps"
_LANES: Final = 32
_MANY_WARPS: Final = 8
_MOST_ACCUMULATORS: Final = 128
_MOST_ELEMENTS: Final = 64


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each setting, a line once."""
    found: dict[int, Issue] = {}
    for name, settings in facts.settings.items():
        for each in settings:
            why = _why(facts, name, each)
            if why:
                found.setdefault(
                    each.line, slow(NAME, each.line, f"{name}: {why}", "search the number of warps")
                )
    return tuple(found.values())


def _why(facts: FileFacts, kernel: str, setting: Setting) -> str:
    warps = setting.num_warps
    function = facts.contents.jit_function(kernel)
    if warps is None or function is None:
        return ""
    size, most = accumulated(facts.bodies[kernel], setting.values), _MOST_ACCUMULATORS
    if size is None:
        size = None if function.has_dot else facts.tile_elements(kernel, setting.values)
        most = _MOST_ELEMENTS
    if size is None or size <= 1:
        return ""
    lanes = _LANES * warps
    # Too small a tile for the default is the tile's fault, see suboptimal_tile_size.
    if lanes > size and warps > DEFAULT_WARPS:
        return f"{warps} warps have {lanes} lanes for {size} elements"
    if size / lanes > most and warps < _MANY_WARPS:
        return f"{warps} warps hold {size} elements, {size / lanes:g} a lane"
    return ""
