"""One statement of any form: loops over what it writes, around loops over what it folds."""

from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion.emit.c.axes import coefficient
from xeforge.fusion.emit.c.axes import is_plain_in
from xeforge.fusion.emit.c.axes import merged
from xeforge.fusion.emit.c.expression import expression
from xeforge.fusion.emit.c.index import Extents
from xeforge.fusion.emit.c.index import axis_name
from xeforge.fusion.emit.c.index import conditions_text
from xeforge.fusion.emit.c.index import flattened
from xeforge.fusion.emit.c.kernel import BLOCK_POINTS
from xeforge.fusion.emit.c.kernel import PARALLEL_POINTS
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import Memory
from xeforge.fusion.emit.c.kernel import fold_line
from xeforge.fusion.emit.c.kernel import identity
from xeforge.fusion.emit.c.kernel import loop
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.kernel import simd
from xeforge.fusion.emit.c.kernel import store
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.numbers import converted
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group

CHUNK = 1024
"""Terms that are summed in one accumulator before it goes into the next one."""

PARTS = 64
"""Pieces of one long fold; a fixed number, so that sums do not depend on how many threads run."""

FEW = 16
"""Fewer elements than this do not share out well among threads."""

LEAST_LANES = 8


@dataclass(frozen=True, slots=True)
class _Nest:
    stmt: Stmt
    array: Array
    outer: tuple[Axis, ...]
    folded: tuple[Axis, ...]
    lanes: int

    @property
    def extents(self) -> Extents:
        return self.stmt.extents()

    @property
    def is_parallel(self) -> bool:
        return points(self.stmt.axes) >= PARALLEL_POINTS

    @property
    def reduce(self) -> Reduce:
        if self.stmt.reduce is None:
            raise ValueError(f"{self.stmt.name} folds nothing")
        return self.stmt.reduce

    def term(self) -> str:
        return expression(self.stmt.body, self.extents, Memory(self.extents))

    def writes_where(self) -> str:
        return conditions_text(self.stmt.write_constraints(), self.extents)

    def folds_where(self) -> str:
        return conditions_text(self.stmt.constraints, self.extents)

    def put(self, state: str) -> str:
        value = converted(state, self.reduce.dtype, self.array.dtype)
        return guarded(self.writes_where(), store(self.stmt, self.array, value, self.extents))


def emit(group: Group, context: Context) -> Kernel:
    """Emit a group of one statement."""
    (stmt,) = group.statements
    array = context.arrays[stmt.output.array]
    flat = flattened(stmt, context.arrays)
    folds = tuple(each for each in flat.axes if each.name in flat.reduced())
    outer, (flat,) = merged([flat], flat.parallel_axes())
    folds, (flat,) = merged([flat], folds)
    lanes = 4 * context.target.vector_bytes // (number(array.dtype).size_bytes or 1)
    nest = _Nest(flat, array, outer, folds, lanes)
    lines = Lines()
    with lines.block(""):
        if flat.reduce is None:
            _pointwise(lines, nest)
        elif _prefers_lanes(nest):
            _by_lanes(lines, nest)
        elif nest.is_parallel and points(outer) < FEW and points(folds) >= PARALLEL_POINTS:
            _by_parts(lines, nest)
        else:
            _by_element(lines, nest)
    return Kernel(lines.text())


def guarded(condition: str, line: str) -> str:
    """Put a condition before a line; empty conditions hold."""
    return f"if ({condition}) {line}" if condition else line


def _pointwise(lines: Lines, nest: _Nest) -> None:
    text = store(nest.stmt, nest.array, nest.term(), nest.extents)
    line = guarded(nest.writes_where(), text)
    if not nest.outer:
        lines.add(line)
        return
    *around, inner = nest.outer
    heads = [loop(each) for each in around]
    low, high = "0", str(inner.extent)
    if points(around) < PARTS and inner.extent >= 2 * BLOCK_POINTS:
        heads.append(f"for (int64_t from = 0; from < {inner.extent}; from += {BLOCK_POINTS})")
        low, high = "from", "to"
    share(lines, len(heads), is_parallel=nest.is_parallel)
    with lines.blocks(*heads):
        if low == "from":
            lines.add(_end(inner.extent, BLOCK_POINTS))
        lines.pragma("simd")
        with lines.block(loop(inner, low, high)):
            lines.add(line)


def _end(extent: int, block: int) -> str:
    return f"const int64_t to = from + {block} < {extent} ? from + {block} : {extent};"


def share(lines: Lines, depth: int, *, is_parallel: bool) -> None:
    """Let threads share the next loops."""
    if depth and is_parallel:
        collapse = f" collapse({depth})" if depth > 1 else ""
        lines.pragma(f"parallel for{collapse} schedule(static)")


def _by_element(lines: Lines, nest: _Nest) -> None:
    share(lines, len(nest.outer), is_parallel=nest.is_parallel)
    with lines.blocks(*(loop(each) for each in nest.outer)):
        lines.add(f"{number(nest.reduce.dtype).value} sum = {identity(nest.reduce)};")
        _fold(lines, nest, nest.folded)
        lines.add(nest.put("sum"))


def _by_parts(lines: Lines, nest: _Nest) -> None:
    """Cut one long fold into a fixed number of pieces for the threads."""
    first, *rest = nest.folded
    parts = min(PARTS, first.extent)
    value = number(nest.reduce.dtype).value
    with lines.blocks(*(loop(each) for each in nest.outer)):
        lines.add(f"{value} parts[{parts}];")
        share(lines, 1, is_parallel=True)
        with lines.block(f"for (int64_t at = 0; at < {parts}; at++)"):
            lines.add(
                f"const int64_t low = {first.extent} * at / {parts};",
                f"const int64_t high = {first.extent} * (at + 1) / {parts};",
                f"{value} sum = {identity(nest.reduce)};",
            )
            _fold(lines, nest, (first, *rest), low="low", high="high")
            lines.add("parts[at] = sum;")
        lines.add(f"{value} sum = {identity(nest.reduce)};")
        with lines.block(f"for (int64_t at = 0; at < {parts}; at++)"):
            lines.add(fold_line(nest.reduce, "sum", "parts[at]"))
        lines.add(nest.put("sum"))


def _fold(
    lines: Lines, nest: _Nest, axes: Sequence[Axis], *, low: str = "0", high: str = ""
) -> None:
    """Fold all terms into ``sum``; chunks of the innermost axis get accumulators of their own."""
    *around, inner = axes
    heads = [loop(each) for each in around]
    if around:
        heads[0] = loop(around[0], low, high)
        low, high = "0", ""
    high = high or str(inner.extent)
    is_cut = inner.extent > 2 * CHUNK
    if is_cut:
        heads.append(f"for (int64_t from = {low}; from < {high}; from += {CHUNK})")
    with lines.blocks(*heads):
        if is_cut:
            lines.add(f"const int64_t to = from + {CHUNK} < {high} ? from + {CHUNK} : {high};")
            low, high = "from", "to"
        state = "part" if heads else "sum"
        if heads:
            lines.add(f"{number(nest.reduce.dtype).value} part = {identity(nest.reduce)};")
        simd(lines, nest.reduce, state)
        with lines.block(loop(inner, low, high)):
            lines.add(guarded(nest.folds_where(), fold_line(nest.reduce, state, nest.term())))
        if heads:
            lines.add(fold_line(nest.reduce, "sum", "part"))


def _prefers_lanes(nest: _Nest) -> bool:
    """Say whether the reads are nearer to each other along what is written than along the fold."""
    if not nest.outer or nest.outer[-1].extent < LEAST_LANES:
        return False
    strided_along = [
        sum(not _is_near(nest.stmt, at, axes[-1].name) for at in range(len(nest.stmt.reads())))
        for axes in (nest.outer, nest.folded)
    ]
    is_short = nest.folded[-1].extent < 2 * LEAST_LANES
    return strided_along[0] < strided_along[1] or (
        strided_along[0] == strided_along[1] and is_short
    )


def _is_near(stmt: Stmt, at: int, name: str) -> bool:
    of = stmt.reads()[at].access.index[0]
    return is_plain_in(of, name) and coefficient(of, name) in {0, 1}


def _by_lanes(lines: Lines, nest: _Nest) -> None:
    """Fold for a block of neighbouring elements at once."""
    *around, inner = nest.outer
    value = number(nest.reduce.dtype).value
    lane = loop(Axis("lane", nest.lanes), "0", "count").replace("i_lane", "lane")
    here = f"const int64_t {axis_name(inner.name)} = from + lane;"
    heads = [loop(each) for each in around]
    heads.append(f"for (int64_t from = 0; from < {inner.extent}; from += {nest.lanes})")
    share(lines, len(heads), is_parallel=nest.is_parallel)
    with lines.blocks(*heads):
        left = f"{inner.extent} - from"
        lines.add(
            f"const int64_t count = {left} < {nest.lanes} ? {left} : {nest.lanes};",
            f"{value} sum[{nest.lanes}];",
        )
        with lines.block(lane):
            lines.add(f"sum[lane] = {identity(nest.reduce)};")
        with lines.blocks(*(loop(each) for each in nest.folded)):
            lines.pragma("simd")
            with lines.block(lane):
                step = fold_line(nest.reduce, "sum[lane]", nest.term())
                lines.add(here, guarded(nest.folds_where(), step))
        with lines.block(lane):
            lines.add(here, nest.put("sum[lane]"))
