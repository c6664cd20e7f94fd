"""Does once, before there is a candidate, what every check and every timed call will do.

The first use of each of torch's device kernels loads its code, which takes some milliseconds each.
"""

from typing import Any

import poison
import torch
from draw import draw
from draw import draw_into
from guards import Guards
from running import same_bits
from timing import own_clock

_DTYPES = ("float32", "float16", "bfloat16")
_SHAPE = [33, 65]


def run(session: Any) -> None:
    """Touch the device the way checks and timed calls do."""
    if not session.device.is_accelerator:
        return
    device = session.device.name
    torch.empty(1, device=device)  # memory is pinned only where the device has been opened
    for arena in (each for lane in session.lanes for each in lane):
        arena.map_ahead()
    clock = own_clock(session)
    for dtype in _DTYPES:
        spec = {"name": "x", "shape": _SHAPE, "dtype": dtype, "range": None, "transforms": []}
        values = draw([spec], "random", 0, None, device)
        draw_into(values, [spec], "random", 1)
        guards = Guards()
        with poison.Poison(poison.FIRST, guards), torch.no_grad():
            copy = torch.empty_like(values[0]).copy_(guards.surround(values[0].clone(), "x"))
        guards.faults()
        same_bits(copy, values[0])
        copy.float().isnan().any().item()
        clock.cold(lambda copy=copy: copy.add(1))
    session.device.synchronize()
