"""Rows that one thread each computes whole, in as few passes as the folds allow."""

from collections.abc import Sequence
from dataclasses import replace

from xeforge.fusion.emit.c import nest
from xeforge.fusion.emit.c.axes import is_near
from xeforge.fusion.emit.c.axes import merged
from xeforge.fusion.emit.c.index import flattened
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import loop
from xeforge.fusion.emit.c.kernel import pointer
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.kernel import share
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.memory import aligned
from xeforge.fusion.emit.c.memory import size_bytes
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.row import Row
from xeforge.fusion.emit.c.row import scratch_bytes
from xeforge.fusion.emit.c.row import write_row
from xeforge.fusion.ir import Axis
from xeforge.fusion.plan import Group

SHORT = 16
"""Rows with fewer columns are computed several at a time."""


def emit(group: Group, context: Context) -> Kernel:
    """Emit a group of statements on rows and their columns."""
    if (
        group.extent("row") < context.limits.few
        and group.extent("column") >= context.limits.parallel_points
    ):
        return _by_statement(group, context)
    flat = [flattened(each, context.arrays) for each in group.statements]
    around, flat = merged(flat, group.axes["row"])
    columns, flat = merged(flat, group.axes["column"])
    row = Row(tuple(flat), columns, group.stored, {}, context)
    lines = Lines()
    is_parallel = group.extent("row") * group.extent("column") >= context.limits.parallel_points
    if around and _prefers_lanes(row, around[-1]):
        row = _with_lanes(row, around)
        around, heads = around[:-1], _lane_loop(row)
    else:
        heads = ()
    size = aligned(scratch_bytes(row))
    with lines.block(""):
        share(lines, len(around) + len(heads), is_parallel=is_parallel)
        with lines.blocks(*(loop(each) for each in around), *heads):
            if row.lane is not None:
                left = f"{row.lane.extent} - base"
                lines.add(f"const int64_t count = {left} < {row.lanes} ? {left} : {row.lanes};")
            if size:
                lines.add(f"char *mine = scratch + (size_t)omp_get_thread_num() * {size};")
            write_row(lines, row, buffers="mine")
    return Kernel(lines.text(), scratch_bytes=size)


def _prefers_lanes(row: Row, last: Axis) -> bool:
    """Say whether what is read lies nearer together across rows than along the columns."""
    written = {each.output.array for each in row.stmts}
    found = [
        read.access.index[0]
        for stmt in row.stmts
        for read in stmt.reads()
        if read.access.array not in written
    ]
    far = [sum(not is_near(of, axis.name) for of in found) for axis in (last, row.columns[-1])]
    is_short = points(row.columns) < SHORT <= last.extent
    return far[0] < far[1] or is_short


def _with_lanes(row: Row, around: Sequence[Axis]) -> Row:
    """Take as many rows together as fit the cache with their buffers, and leave a few blocks.

    Wide blocks count more than many: each of their lines may lie on another page.
    """
    limits, last = row.context.limits, around[-1]
    room = row.context.target.cache_bytes // 2 // max(1, scratch_bytes(row))
    lanes = max(min(limits.lanes, last.extent), 1)
    while lanes > SHORT and (lanes > room or 4 * points(around) < lanes * limits.few):
        lanes //= 2
    return replace(row, lane=last, lanes=lanes)


def _lane_loop(row: Row) -> tuple[str, ...]:
    if row.lane is None:
        return ()
    return (f"for (int64_t base = 0; base < {row.lane.extent}; base += {row.lanes})",)


def _by_statement(group: Group, context: Context) -> Kernel:
    """Compute few long rows statement by statement: all threads share each of them."""
    lines = Lines()
    place = 0
    with lines.block(""):
        for name in group.local():
            array = context.arrays[name]
            stored = number(array.dtype).stored
            lines.add(f"{stored} *restrict {pointer(name)} = ({stored} *)(work + {place});")
            place += size_bytes(array)
        for stmt in group.statements:
            nest.write(lines, stmt, context)
    return Kernel(lines.text(), work_bytes=place)
