"""Rows that one thread each computes whole, in as few passes as the folds allow."""

from xeforge.fusion.emit.c import nest
from xeforge.fusion.emit.c.axes import merged
from xeforge.fusion.emit.c.index import flattened
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import loop
from xeforge.fusion.emit.c.kernel import pointer
from xeforge.fusion.emit.c.kernel import share
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.memory import aligned
from xeforge.fusion.emit.c.memory import size_bytes
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.row import Row
from xeforge.fusion.emit.c.row import scratch_bytes
from xeforge.fusion.emit.c.row import write_row
from xeforge.fusion.plan import Group


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
    size = aligned(scratch_bytes(row))
    lines = Lines()
    with lines.block(""):
        is_parallel = group.extent("row") * group.extent("column") >= context.limits.parallel_points
        share(lines, len(around), is_parallel=is_parallel)
        with lines.blocks(*(loop(each) for each in around)):
            if size:
                lines.add(f"char *mine = scratch + (size_t)omp_get_thread_num() * {size};")
            write_row(lines, row, buffers="mine")
    return Kernel(lines.text(), scratch_bytes=size)


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
