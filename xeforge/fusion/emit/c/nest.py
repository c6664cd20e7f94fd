"""One statement of any form: loops over what it writes, around loops over what it folds."""

from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion.emit.c import pointwise
from xeforge.fusion.emit.c.axes import is_near
from xeforge.fusion.emit.c.axes import merged
from xeforge.fusion.emit.c.expression import expression
from xeforge.fusion.emit.c.index import Extents
from xeforge.fusion.emit.c.index import axis_name
from xeforge.fusion.emit.c.index import conditions_text
from xeforge.fusion.emit.c.index import flattened
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import Memory
from xeforge.fusion.emit.c.kernel import fold_line
from xeforge.fusion.emit.c.kernel import guarded
from xeforge.fusion.emit.c.kernel import identity
from xeforge.fusion.emit.c.kernel import loop
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.kernel import reduction
from xeforge.fusion.emit.c.kernel import share
from xeforge.fusion.emit.c.kernel import store
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.numbers import converted
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.target import Limits
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group

LEAST_LANES = 8


@dataclass(frozen=True, slots=True)
class _Nest:
    stmt: Stmt
    array: Array
    outer: tuple[Axis, ...]
    folded: tuple[Axis, ...]
    lanes: int
    limits: Limits

    @property
    def extents(self) -> Extents:
        return self.stmt.extents()

    @property
    def is_parallel(self) -> bool:
        return points(self.stmt.axes) >= self.limits.parallel_points

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
    lines = Lines()
    with lines.block(""):
        write(lines, stmt, context)
    return Kernel(lines.text())


def write(lines: Lines, stmt: Stmt, context: Context) -> None:
    """Write the loops of one statement, which stores its array."""
    array = context.arrays[stmt.output.array]
    flat = flattened(stmt, context.arrays)
    folds = tuple(each for each in flat.axes if each.name in flat.reduced())
    outer, (flat,) = merged([flat], flat.parallel_axes())
    folds, (flat,) = merged([flat], folds)
    lanes = 4 * context.target.vector_bytes // (number(array.dtype).size_bytes or 1)
    nest = _Nest(flat, array, outer, folds, lanes, context.limits)
    if flat.reduce is None:
        pointwise.write(lines, outer, [flat], context, stored={array.name})
        return
    with lines.block(""):
        if _prefers_lanes(nest):
            _by_lanes(lines, nest)
        elif (
            nest.is_parallel
            and points(outer) < nest.limits.few
            and points(folds) >= nest.limits.parallel_points
        ):
            _by_parts(lines, nest)
        else:
            _by_element(lines, nest)


def _by_element(lines: Lines, nest: _Nest) -> None:
    share(lines, len(nest.outer), is_parallel=nest.is_parallel)
    with lines.blocks(*(loop(each) for each in nest.outer)):
        lines.add(f"{number(nest.reduce.dtype).value} sum = {identity(nest.reduce)};")
        _fold(lines, nest, nest.folded)
        lines.add(nest.put("sum"))


def _by_parts(lines: Lines, nest: _Nest) -> None:
    """Cut one long fold into a fixed number of pieces for the threads."""
    first, *rest = nest.folded
    parts = min(nest.limits.parts, first.extent)
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
    chunk = nest.limits.chunk
    if around:
        heads[0] = loop(around[0], low, high)
        low, high = "0", ""
    high = high or str(inner.extent)
    is_cut = inner.extent > 2 * chunk
    if is_cut:
        heads.append(f"for (int64_t from = {low}; from < {high}; from += {chunk})")
    with lines.blocks(*heads):
        if is_cut:
            lines.add(f"const int64_t to = from + {chunk} < {high} ? from + {chunk} : {high};")
            low, high = "from", "to"
        state = "part" if heads else "sum"
        if heads:
            lines.add(f"{number(nest.reduce.dtype).value} part = {identity(nest.reduce)};")
        clause = reduction(nest.reduce, state)
        if clause:
            lines.pragma(f"simd {clause}")
        with lines.block(loop(inner, low, high)):
            lines.add(guarded(nest.folds_where(), fold_line(nest.reduce, state, nest.term())))
        if heads:
            lines.add(fold_line(nest.reduce, "sum", "part"))


def _prefers_lanes(nest: _Nest) -> bool:
    """Say whether the reads are nearer to each other along what is written than along the fold."""
    if not nest.outer or nest.outer[-1].extent < LEAST_LANES:
        return False
    strided_along = [
        sum(not is_near(each.access.index[0], axes[-1].name) for each in nest.stmt.reads())
        for axes in (nest.outer, nest.folded)
    ]
    is_short = nest.folded[-1].extent < 2 * LEAST_LANES
    return strided_along[0] < strided_along[1] or (
        strided_along[0] == strided_along[1] and is_short
    )


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
