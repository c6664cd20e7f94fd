"""Fixed tiles are too small for the device.

Looks for products whose every setting accumulates at most 32 by 32 elements, and for other kernels
whose every setting handles fewer elements than four warps have lanes. Misses tiles that are
computed at run time, and tiles too small for one shape only. Source: arithmetic per loaded element
grows with the side of a tile (m*n/(m+n)); a warp has 32 lanes, Triton's default is four warps.
"""

import math
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.accumulators import accumulator_shapes
from xeforge.source.facts import FileFacts
from xeforge.source.settings import Setting

NAME: Final = "suboptimal_tile_size"
_SMALL_SIDE: Final = 32
_LANES: Final = 128


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each kernel once, at its autotuner or first launch."""
    found = []
    for name, settings in facts.settings.items():
        kernel = facts.contents.jit_function(name)
        whys = [_why(facts, name, each) for each in settings]
        if kernel is None or not whys or not all(whys):
            continue
        line = kernel.autotune.line if kernel.autotune else settings[0].line
        found.append(
            slow(NAME, line, f"{name} works on {whys[0]}", "try larger tiles as the device allows")
        )
    return tuple(found)


def _why(facts: FileFacts, kernel: str, setting: Setting) -> str:
    values = setting.values
    shapes = accumulator_shapes(facts.bodies[kernel])
    if shapes:
        sizes = [
            [int(each) if each.isdigit() else values.get(each) for each in shape]
            for shape in shapes
        ]
        # Of several products the largest tile counts; one unknown side may be anything.
        known = [[each for each in size if each is not None] for size in sizes]
        is_small = all(max(each, default=math.inf) <= _SMALL_SIDE for each in known)
        is_known = any(None not in size for size in sizes)
        tile = " x ".join(str(each) for each in known[0])
        return f"product tiles of {tile}" if is_small and is_known else ""
    function = facts.contents.jit_function(kernel)
    if function is None or function.has_dot:
        return ""
    size = facts.tile_elements(kernel, values)
    return f"{size} elements at a time" if size is not None and 1 < size < _LANES else ""
