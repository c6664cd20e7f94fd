"""One kernel for a large group of rows and small ones that ride with it, as programs of their own.

The small ones have the first programs, so that they are done before the large one is.
"""

from collections.abc import Sequence
from dataclasses import replace

from xeforge.fusion.emit.triton.kernel import Config
from xeforge.fusion.emit.triton.kernel import Kernel
from xeforge.fusion.emit.triton.rows import emit_rows
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Group

_PER_WARP = 1024
"""Points of a small group that a warp looks at together: no more than a large one has."""


def emit_riders(
    riders: Sequence[Group], carrier: Group, program: Program, target: TritonTarget
) -> Kernel:
    """Return the kernel of a group of rows and of those that ride in its launch.

    Args:
        riders: Of family ``rows``, one at least.
        carrier: Of family ``rows``; shares no array with them.
        program: With their arrays.
        target: What it is made for.
    """
    names = Names()
    number = names.fresh("program")
    config = emit_rows(carrier, program, target).configs[0]
    # Riders have the warps of the carrier, and no use for more registers than it needs.
    together = _PER_WARP * config.num_warps
    small = replace(target, units=1, longest_row=together, chunk=together)
    lines = [f"{number} = tl.program_id(0)"]
    parts: list[Kernel] = []
    first = 0
    for rider in riders:
        part = emit_rows(rider, program, small, names, _from(number, first))
        first += int(part.grid)
        lines += [f"{'elif' if parts else 'if'} {number} < {first}:"]
        lines += [f"    {line}" for line in part.lines]
        parts.append(part)
    own = emit_rows(carrier, program, target, names, _from(number, first))
    lines += ["else:", *(f"    {line}" for line in own.lines)]
    every = (own, *parts)
    blocks = {name: size for each in every for name, size in each.configs[0].blocks.items()}
    return replace(
        own,
        lines=lines,
        arguments={array: name for each in every for array, name in each.arguments.items()},
        configs=(Config(blocks, config.num_warps),),
        grid=str(first + int(own.grid)),
        helpers=frozenset[str]().union(*(each.helpers for each in every)),
    )


def _from(number: str, first: int) -> str:
    return f"({number} - {first})" if first else number
