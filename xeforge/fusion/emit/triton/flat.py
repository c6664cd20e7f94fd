"""Kernels over flattened points: the families ``pointwise`` and ``nest``.

Each lane of a program computes one point; folds, which only a nest has, are loops that every lane
runs for itself. A nest takes any statement, and is what everything falls back to.
"""

import math

from xeforge.fusion.emit.triton.frame import Frame
from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.kernel import Config
from xeforge.fusion.emit.triton.kernel import Kernel
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
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Monoid
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
    values = Values(Frame(names, (span,)), names, arrays, lines)
    is_long = needs_64_bits(count + size, *_sizes(group, program))
    start = "tl.program_id(0).to(tl.int64)" if is_long else "tl.program_id(0)"
    lines.add(f"{point} = {start} * {block} + tl.arange(0, {block})")
    if inside is not None:
        lines.add(f"{inside} = {point} < {count}")
    parts = lines.block()
    for stmt in group.statements:
        _write(stmt, values, block, is_stored=stmt.output.array in group.stored)
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


def _sizes(group: Group, program: Program) -> list[int]:
    arrays = program.arrays_by_name()
    named = {stmt.output.array for stmt in group.statements} | set(group.given())
    return [math.prod(arrays[name].shape) for name in named]


def _write(stmt: Stmt, values: Values, block: str, *, is_stored: bool) -> None:
    """Compute a statement, keep its value, and store it where others read it."""
    array = stmt.output.array
    dtype = values.arrays[array].dtype
    if stmt.reduce is None:
        text = values.value(stmt.body, stmt.constraints)
        held = dtype_of(stmt.body)
    else:
        text = Text(_folded(stmt, stmt.reduce, values, block))
        held = stmt.reduce.dtype
    if held != dtype:
        text = Text(f"{values.typed(text, held)}.to({language_dtype(dtype)})")
    values.held[array] = Text(values.named(text, array, dtype))
    if is_stored:
        offset, mask = values.place(stmt.output, stmt.write_constraints(), values.frame.spans[:1])
        masked = "" if mask is None else f", mask={mask}"
        values.lines.add(f"tl.store({offset}, {values.held[array].code}{masked})")


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
        values.lines.add(f"{total} = {combined(reduce.monoid, total, text, values)}")
    values.lines = outer
    return total


def combined(monoid: Monoid, total: str, term: Text, values: Values) -> str:
    """Return the text that folds one more term into a total."""
    if monoid in {"sum", "prod"}:
        sign, binding = ("+", 4) if monoid == "sum" else ("*", 5)
        return f"{total} {sign} {term.within(binding)}"
    name = "maximum" if monoid == "max" else "minimum"
    values.helpers.add(name)
    return f"_{name}({total}, {term.code})"
