"""Kernels that own whole rows: softmax, norms, losses.

A row that fits is held in registers, and every array is loaded once. Longer rows are read in
chunks, once for each fold that something else waits for. Where memory runs along the rows and not
along the columns, a program has as many rows as lanes side by side and walks down the columns.
"""

import math
from collections.abc import Sequence

from xeforge.fusion.emit.triton.folds import accumulated
from xeforge.fusion.emit.triton.folds import folded
from xeforge.fusion.emit.triton.frame import Frame
from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.kernel import Config
from xeforge.fusion.emit.triton.kernel import Kernel
from xeforge.fusion.emit.triton.passes import Pass
from xeforge.fusion.emit.triton.passes import passes_of
from xeforge.fusion.emit.triton.shapes import Shape
from xeforge.fusion.emit.triton.shapes import shape_of
from xeforge.fusion.emit.triton.statements import finish
from xeforge.fusion.emit.triton.statements import group_sizes
from xeforge.fusion.emit.triton.statements import stores_halves
from xeforge.fusion.emit.triton.statements import tile_term
from xeforge.fusion.emit.triton.statements import varies_along
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.text import Lines
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.emit.triton.text import scoped
from xeforge.fusion.emit.triton.values import Text
from xeforge.fusion.emit.triton.values import Values
from xeforge.fusion.emit.triton.words import identity
from xeforge.fusion.emit.triton.words import language_dtype
from xeforge.fusion.emit.triton.words import needs_64_bits
from xeforge.fusion.fuse.memory import Walk
from xeforge.fusion.fuse.memory import walk_of
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


def emit_rows(
    group: Group,
    program: Program,
    target: TritonTarget,
    names: Names | None = None,
    number: str = "tl.program_id(0)",
) -> Kernel:
    """Return the kernel of a group of family ``rows``.

    Args:
        group: Of that family.
        program: With its arrays.
        target: What it is made for.
        names: Of a kernel of which this is a part; None: of its own.
        number: Of the program, as text.
    """
    walk = walk_of(group, program.arrays_by_name(), units=target.units)
    passes = sum(bool(each.inner) for each in passes_of(group))
    shape = shape_of(walk, target, passes=passes)
    writer = _Rows(group, program, (walk, shape), Names() if names is None else names, number)
    writer.write()
    return Kernel(
        name=f"{group.name}_kernel",
        summary="",
        lines=writer.lines.text(),
        arguments=dict(writer.values.pointers),
        configs=(Config(writer.blocks, shape.warps(target)),),
        grid=str(math.ceil(group.extent("row") / shape.rows)),
        helpers=frozenset(writer.values.helpers),
    )


class _Rows:
    """Writes the body of one kernel."""

    def __init__(
        self,
        group: Group,
        program: Program,
        form: tuple[Walk, Shape],
        names: Names,
        number: str,
    ) -> None:
        walk, shape = form
        self.group = group
        self.shape = shape
        self.lines = Lines()
        self._names = names
        self._number = number
        self._block = self._names.fresh("BLOCK")
        self.blocks = {self._block: shape.columns}
        self._wide = ".to(tl.int64)" if needs_64_bits(*group_sizes(group, program)) else ""
        self._row = self._row_span(walk.rows)
        self._column = Span(self._names.fresh("column"), walk.columns, is_block=True)
        frame = Frame(self._names, (self._row, self._column))
        arrays = program.arrays_by_name()
        is_short = stores_halves(group, arrays)
        self.values = Values(frame, self._names, arrays, self.lines, is_short=is_short)
        self._varied: set[str] = set()

    def write(self) -> None:
        """Write all lines."""
        self.lines.add(*self._row_lines())
        parts = self.lines.block()
        if self.shape.is_held:
            self._write_held()
        else:
            for each in passes_of(self.group):
                self._write_pass(each)
        parts.add(*self._row.parts.text())

    def _row_span(self, axes: tuple[Axis, ...]) -> Span:
        count = self.group.extent("row")
        name = self._names.fresh("row")
        if self.shape.is_single:
            return Span(name, axes, is_block=False)
        self._rows = self._names.fresh("LANES" if self.shape.is_down else "ROWS")
        self.blocks = {self._rows: self.shape.rows, **self.blocks}
        inside = self._names.fresh("row_inside") if count % self.shape.rows else None
        return Span(name, axes, is_block=True, inside=inside)

    def _row_lines(self) -> list[str]:
        start = f"{self._number}{self._wide}"
        if self.shape.is_single:
            return [f"{self._row.index} = {start}"]
        lanes = f"tl.arange(0, {self._rows}){self.shape.dimension('row')}"
        lines = [f"{self._row.index} = {start} * {self._rows} + {lanes}"]
        if self._row.inside is not None:
            lines.append(f"{self._row.inside} = {self._row.index} < {self.group.extent('row')}")
        return lines

    def _enter_columns(self, start: str) -> None:
        """Write positions of the columns that come next; a pass has positions of its own."""
        width = self.group.extent("column")
        inside = self._names.fresh("column_inside") if width % self.shape.columns else None
        span = Span(self._column.index, self._column.axes, is_block=True, inside=inside)
        self.values.frame.replace(self._column, span)
        self._column = span
        lanes = f"tl.arange(0, {self._block}){self.shape.dimension('column')}{self._wide}"
        self.values.lines.add(f"{span.index} = {start}{lanes}")
        if inside is not None:
            self.values.lines.add(f"{inside} = {span.index} < {width}")

    def _write_held(self) -> None:
        self._enter_columns("")
        parts = self.lines.block()
        for stmt in self.group.statements:
            if stmt.reduce is None:
                self._write_plain(stmt)
            else:
                self._finish(stmt, self._folded(stmt, self._term(stmt)))
        parts.add(*self._column.parts.text())

    def _write_pass(self, now: Pass) -> None:
        """Write what a loop over the chunks of a row waits for, the loop, and its folds."""
        for stmt in now.before:
            self._write_plain(stmt)
        totals = {stmt.name: self._start(stmt) for stmt in now.folds}
        if now.inner:
            outer = self.values.lines
            start = self._names.fresh("start")
            width = self.group.extent("column")
            outer.add(f"for {start} in range(0, {width}, {self._block}):")
            self.values.lines = outer.inner()
            held = dict(self.values.held)
            with scoped(self.values.loaded):
                self._enter_columns(f"{start} + ")
                parts = self.values.lines.block()
                for stmt in now.inner:
                    if stmt.reduce is None:
                        self._write_plain(stmt, is_storing=stmt in now.stores)
                    else:
                        total = totals[stmt.name]
                        text = accumulated(stmt.reduce.monoid, total, self._term(stmt), self.values)
                        self.values.lines.add(f"{total} = {text}")
                parts.add(*self._column.parts.text())
            self.values.held = held
            self.values.lines = outer
        for stmt in now.folds:
            self._finish(stmt, self._folded(stmt, Text(totals[stmt.name])))

    def _folded(self, stmt: Stmt, block: Text) -> Text:
        axis = 0 if self.shape.is_single or self.shape.is_down else 1
        return folded(stmt, block, self.values, axis=axis, keep_dims=not self.shape.is_single)

    def _tile(self) -> str:
        if self.shape.is_single:
            return f"({self._block},)"
        if self.shape.is_down:
            return f"({self._block}, {self._rows})"
        return f"({self._rows}, {self._block})"

    def _start(self, stmt: Stmt) -> str:
        """Write the accumulator of a fold, one for each lane."""
        if stmt.reduce is None:
            raise TypeError(stmt.name)
        total = self._names.fresh(f"{stmt.output.array}_total")
        empty = identity(stmt.reduce.monoid, stmt.reduce.dtype)
        dtype = language_dtype(stmt.reduce.dtype)
        self.values.lines.add(f"{total} = tl.full({self._tile()}, {empty}, {dtype})")
        return total

    def _term(self, stmt: Stmt) -> Text:
        """Return a fold's terms as a whole tile; where there is no term, the neutral element."""
        return tile_term(
            stmt, self.values, along=self._column, tile=self._tile(), varied=self._varied
        )

    def _column_names(self) -> frozenset[str]:
        return frozenset(each.name for each in self._column.axes if each.extent > 1)

    def _write_plain(self, stmt: Stmt, *, is_storing: bool = True) -> None:
        if varies_along(stmt.body, self._column_names(), self._varied):
            self._varied.add(stmt.output.array)
        self._finish(stmt, None, is_storing=is_storing)

    def _finish(self, stmt: Stmt, text: Text | None, *, is_storing: bool = True) -> None:
        over: Sequence[Span] = [self._row] if self._row.is_block else []
        columns = {each.name for each in self._column.axes}
        if stmt.reduce is None and any(each.name in columns for each in stmt.axes):
            over = [*over, self._column]
        is_stored = is_storing and stmt.output.array in self.group.stored
        finish(stmt, text, self.values, over if is_stored else None)
