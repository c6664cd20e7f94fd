"""Statements on the same points, in one pass: what only they read stays in variables."""

from collections.abc import Collection
from collections.abc import Sequence

from xeforge.fusion.emit.c.axes import merged
from xeforge.fusion.emit.c.expression import expression
from xeforge.fusion.emit.c.index import conditions_text
from xeforge.fusion.emit.c.index import flattened
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import Memory
from xeforge.fusion.emit.c.kernel import guarded
from xeforge.fusion.emit.c.kernel import loop
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.kernel import scalar
from xeforge.fusion.emit.c.kernel import share
from xeforge.fusion.emit.c.kernel import store
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


def emit(group: Group, context: Context) -> Kernel:
    """Emit a group of statements without folds."""
    flat = [flattened(each, context.arrays) for each in group.statements]
    axes, flat = merged(flat, group.axes["point"])
    lines = Lines()
    with lines.block(""):
        write(lines, axes, flat, context, stored=group.stored)
    return Kernel(lines.text())


def write(
    lines: Lines,
    axes: Sequence[Axis],
    stmts: Sequence[Stmt],
    context: Context,
    *,
    stored: Collection[str],
) -> None:
    """Write the loops over all points; the last axis runs in vectors.

    Args:
        lines: Where to.
        axes: Outermost first.
        stmts: Flat, without folds, over all of these axes; in order.
        context: Of the plan.
        stored: Arrays that go to memory.
    """
    if not axes:
        _points(lines, stmts, context, stored)
        return
    *around, inner = axes
    limits, block = context.limits, context.limits.block_points
    heads = [loop(each) for each in around]
    low, high = "0", str(inner.extent)
    if points(around) < limits.parts and inner.extent >= 2 * block:
        heads.append(f"for (int64_t from = 0; from < {inner.extent}; from += {block})")
        low, high = "from", "to"
    share(lines, len(heads), is_parallel=points(axes) >= limits.parallel_points)
    with lines.blocks(*heads):
        if low == "from":
            ends = f"from + {block} < {inner.extent}"
            lines.add(f"const int64_t to = {ends} ? from + {block} : {inner.extent};")
        lines.pragma("simd")
        with lines.block(loop(inner, low, high)):
            _points(lines, stmts, context, stored)


def _points(lines: Lines, stmts: Sequence[Stmt], context: Context, stored: Collection[str]) -> None:
    computed: set[str] = set()
    for stmt in stmts:
        array = context.arrays[stmt.output.array]
        extents = stmt.extents()
        memory = Memory(extents)

        def read(each: Read, memory: Memory = memory) -> str:
            name = each.access.array
            return scalar(name) if name in computed else memory(each)

        value = expression(stmt.body, extents, read)
        condition = conditions_text(stmt.constraints, extents)
        if condition:
            # Only a nest leaves out points, and nobody in its group reads what it writes.
            lines.add(guarded(condition, store(stmt, array, value, extents)))
            continue
        lines.add(f"const {number(array.dtype).value} {scalar(array.name)} = {value};")
        computed.add(array.name)
        if array.name in stored:
            lines.add(store(stmt, array, scalar(array.name), extents))
