"""Kernels over flattened points: the families ``pointwise`` and ``nest``.

Each lane of a program computes one point; folds, which only a nest has, are loops that every lane
runs for itself. A nest takes any statement, and is what everything falls back to.
"""

import math

from xeforge.fusion.emit.triton.folds import accumulated
from xeforge.fusion.emit.triton.frame import Frame
from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.kernel import Config
from xeforge.fusion.emit.triton.kernel import Kernel
from xeforge.fusion.emit.triton.statements import finish
from xeforge.fusion.emit.triton.statements import group_sizes
from xeforge.fusion.emit.triton.statements import stores_halves
from xeforge.fusion.emit.triton.text import Lines
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.emit.triton.text import scoped
from xeforge.fusion.emit.triton.values import Text
from xeforge.fusion.emit.triton.values import Values
from xeforge.fusion.emit.triton.words import identity
from xeforge.fusion.emit.triton.words import language_dtype
from xeforge.fusion.emit.triton.words import needs_64_bits
from xeforge.fusion.emit.triton.words import power_of_two
from xeforge.fusion.functions import cast
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group

MOST_POINTS = 1024
"""Points of one program without loops: 16 bytes of halves for each of 128 threads."""
MOST_LOOPING_POINTS = 128
"""Points of one program where each lane runs loops of its own."""
_LANES = 32
_MOST_WARPS = 4


def emit_flat(group: Group, program: Program) -> Kernel:
    """Return the kernel of a group of family ``pointwise`` or ``nest``."""
    first = group.statements[0]
    axes = group.axes["point"] if group.family == "pointwise" else first.parallel_axes()
    count = math.prod(each.extent for each in axes)
    has_loops = any(stmt.reduce is not None for stmt in group.statements)
    most = MOST_LOOPING_POINTS if has_loops else MOST_POINTS
    size = min(power_of_two(count), most)
    names, lines = Names(), Lines()
    block, point = names.fresh("BLOCK"), names.fresh("point")
    inside = names.fresh("inside") if count % size else None
    span = Span(point, tuple(axes), is_block=True, inside=inside)
    arrays = program.arrays_by_name()
    frame, is_short = Frame(names, (span,)), stores_halves(group, arrays)
    values = Values(frame, names, arrays, lines, forces_blocks=True, is_short=is_short)
    is_long = needs_64_bits(count + size, *group_sizes(group, program))
    start = "tl.program_id(0).to(tl.int64)" if is_long else "tl.program_id(0)"
    lines.add(f"{point} = {start} * {block} + tl.arange(0, {block})")
    if inside is not None:
        lines.add(f"{inside} = {point} < {count}")
    parts = lines.block()
    for stmt in group.statements:
        text = None
        if stmt.reduce is not None:
            text = Text(_folded(stmt, stmt.reduce, values, block))
        finish(stmt, text, values, (span,) if stmt.output.array in group.stored else None)
    parts.add(*span.parts.text())
    warps = min(_MOST_WARPS, max(1, size // _LANES))
    return Kernel(
        name=f"{group.name}_kernel",
        summary="",
        lines=lines.text(),
        arguments=dict(values.pointers),
        configs=(Config({block: size}, warps),),
        grid=str(math.ceil(count / size)),
        helpers=frozenset(values.helpers),
    )


def _folded(stmt: Stmt, reduce: Reduce, values: Values, block: str) -> str:
    """Write the loops of a fold; return its accumulator."""
    total = values.names.fresh(f"{stmt.output.array}_total")
    start = identity(reduce.monoid, reduce.dtype)
    values.lines.add(f"{total} = tl.full(({block},), {start}, {language_dtype(reduce.dtype)})")
    outer = values.lines
    extents = stmt.extents()
    with scoped(values.loaded):
        for name in reduce.axes:
            index = values.names.fresh(name)
            values.frame.add(Span(index, (Axis(name, extents[name]),), is_block=False))
            if extents[name] > 1:
                values.lines.add(f"for {index} in range({extents[name]}):")
                values.lines = values.lines.inner()
        text = values.value(cast(stmt.body, reduce.dtype), stmt.constraints)
        kept = values.holds(stmt.constraints)
        if kept is not None:
            text = Text(f"tl.where({kept}, {values.typed(text, reduce.dtype)}, {start})")
        values.lines.add(f"{total} = {accumulated(reduce.monoid, total, text, values)}")
    values.lines = outer
    return total
