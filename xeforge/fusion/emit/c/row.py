"""The text of one row: its passes over the columns."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xeforge.fusion.affine import Affine
from xeforge.fusion.emit.c.expression import expression
from xeforge.fusion.emit.c.index import affine_text
from xeforge.fusion.emit.c.index import axis_name
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Memory
from xeforge.fusion.emit.c.kernel import fold_line
from xeforge.fusion.emit.c.kernel import identity
from xeforge.fusion.emit.c.kernel import loop
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.kernel import reduction
from xeforge.fusion.emit.c.kernel import scalar
from xeforge.fusion.emit.c.kernel import store
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.memory import aligned
from xeforge.fusion.emit.c.numbers import converted
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.passes import Pass
from xeforge.fusion.emit.c.passes import Schedule
from xeforge.fusion.emit.c.passes import schedule
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt

Source = Callable[[str], str]
"""Gives the value of an array at a column, whose number in the row is passed as C."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a row consists of.

    Attributes:
        stmts: Flat, in order.
        columns: Axes of the row's elements; empty where a row is one element.
        stored: Arrays that go to memory.
        sources: Arrays that are neither in memory nor written by a statement here.
        context: Of the plan.
        low: First value of the last column axis, as C; of the whole row by default.
        high: End of it.
        lane: A row axis whose neighbours are computed together, in vectors, from ``base`` on;
            None where vectors run along the columns.
        lanes: How many at most; ``count`` says how many there are.
    """

    stmts: tuple[Stmt, ...]
    columns: tuple[Axis, ...]
    stored: tuple[str, ...]
    sources: Mapping[str, Source]
    context: Context
    low: str = "0"
    high: str = ""
    lane: Axis | None = None
    lanes: int = 1


def scratch_bytes(row: Row) -> int:
    """Return what the buffers of a row take."""
    return sum(_buffer_bytes(row, name) for name in _plan(row).kept)


def write_row(lines: Lines, row: Row, *, buffers: str) -> None:
    """Write the passes of a row whose row axes have been given values.

    Args:
        lines: Where to.
        row: The row.
        buffers: A ``char *`` with room for `scratch_bytes`.
    """
    found = _plan(row)
    place = 0
    for name in found.kept:
        value = number(row.context.arrays[name].dtype).value
        lines.add(f"{value} *restrict {_buffer(name)} = ({value} *)({buffers} + {place});")
        place += _buffer_bytes(row, name)
    for at, each in enumerate(found.passes):
        _Writer(row, found, at).write(lines, each)


def _plan(row: Row) -> Schedule:
    return schedule(row.stmts, {each.name for each in row.columns}, row.stored)


def _buffer(name: str) -> str:
    return f"row_{name}"


def _buffer_bytes(row: Row, name: str) -> int:
    size = 8 if number(row.context.arrays[name].dtype).value in {"double", "int64_t"} else 4
    return aligned(size * points(row.columns) * row.lanes)


def _sum(name: str) -> str:
    return f"sum_{name}"


def _part(name: str) -> str:
    return f"part_{name}"


class _Writer:
    """One pass."""

    def __init__(self, row: Row, found: Schedule, at: int) -> None:
        self.row = row
        self.found = found
        self.at = at
        self.here = {each.output.array for each in found.passes[at].columns}
        self.along = {each.name for each in row.columns}
        self.writers = {each.output.array: each for each in row.stmts}

    def write(self, lines: Lines, each: Pass) -> None:
        for stmt in each.before:
            self._define(lines, stmt, self._value(stmt))
        if not each.columns:
            return
        folds = tuple(stmt for stmt in each.columns if stmt.reduce is not None)
        self._start(lines, folds, _sum)
        self._loops(lines, each.columns, folds)
        for stmt in folds:
            array = self._array(stmt)
            total = converted(self._of(_sum(array.name)), _reduce(stmt).dtype, array.dtype)
            self._define(lines, stmt, total)

    def _of(self, name: str) -> str:
        """Return one lane's value of what each row has one of."""
        return f"{name}[lane]" if self.row.lane else name

    @contextmanager
    def _lanes(self, lines: Lines) -> Iterator[None]:
        """Write what is inside for each lane."""
        if self.row.lane is None:
            yield
            return
        lines.pragma("simd")
        with lines.block("for (int64_t lane = 0; lane < count; lane++)"):
            lines.add(f"const int64_t {axis_name(self.row.lane.name)} = base + lane;")
            yield

    def _start(self, lines: Lines, folds: Sequence[Stmt], state: Callable[[str], str]) -> None:
        """Declare accumulators."""
        for stmt in folds:
            reduce, name = _reduce(stmt), state(stmt.output.array)
            value = number(reduce.dtype).value
            if self.row.lane is None:
                lines.add(f"{value} {name} = {identity(reduce)};")
                continue
            lines.add(f"{value} {name}[{self.row.lanes}];")
            with self._lanes(lines):
                lines.add(f"{name}[lane] = {identity(reduce)};")

    def _loops(self, lines: Lines, stmts: Sequence[Stmt], folds: Sequence[Stmt]) -> None:
        *around, inner = self.row.columns or (Axis("one", 1),)
        low, high = self.row.low, self.row.high or str(inner.extent)
        heads = [loop(each) for each in around]
        limits = self.row.context.limits
        chunk = limits.chunk if self.row.lane is None else limits.lane_chunk
        is_cut = inner.extent > 2 * chunk and bool(folds)
        if is_cut:
            heads.append(f"for (int64_t from = {low}; from < {high}; from += {chunk})")
        with lines.blocks(*heads):
            state = _part if is_cut else _sum
            if is_cut:
                lines.add(f"const int64_t to = from + {chunk} < {high} ? from + {chunk} : {high};")
                low, high = "from", "to"
                self._start(lines, folds, _part)
            if self.row.lane is None:
                self._pragma(lines, folds, state)
            with lines.block(loop(inner, low, high)), self._lanes(lines):
                for stmt in stmts:
                    self._column(lines, stmt, state)
            if is_cut and folds:
                with self._lanes(lines):
                    for stmt in folds:
                        name = stmt.output.array
                        total, part = self._of(_sum(name)), self._of(_part(name))
                        lines.add(fold_line(_reduce(stmt), total, part))

    def _pragma(self, lines: Lines, folds: Sequence[Stmt], state: Callable[[str], str]) -> None:
        clauses = [reduction(_reduce(stmt), state(stmt.output.array)) for stmt in folds]
        if all(clauses):
            lines.pragma(" ".join(("simd", *clauses)))

    def _column(self, lines: Lines, stmt: Stmt, state: Callable[[str], str]) -> None:
        if stmt.reduce is not None:
            name = self._of(state(stmt.output.array))
            lines.add(fold_line(stmt.reduce, name, self._value(stmt)))
            return
        array = self._array(stmt)
        value = number(array.dtype).value
        lines.add(f"const {value} {scalar(array.name)} = {self._value(stmt)};")
        if self.found.first[array.name] != self.at:
            return
        if array.name in self.row.stored:
            lines.add(store(stmt, array, scalar(array.name), stmt.extents()))
        if array.name in self.found.kept:
            lines.add(f"{_buffer(array.name)}[{self._kept_at()}] = {scalar(array.name)};")

    def _define(self, lines: Lines, stmt: Stmt, value: str) -> None:
        array = self._array(stmt)
        name, kind = scalar(array.name), number(array.dtype).value
        if self.row.lane is None:
            lines.add(f"const {kind} {name} = {value};")
        else:
            lines.add(f"{kind} {name}[{self.row.lanes}];")
        if self.row.lane is None and array.name not in self.row.stored:
            return
        with self._lanes(lines):
            if self.row.lane is not None:
                lines.add(f"{name}[lane] = {value};")
            if array.name in self.row.stored:
                lines.add(store(stmt, array, self._of(name), stmt.extents()))

    def _value(self, stmt: Stmt) -> str:
        extents = stmt.extents()
        memory = Memory(extents)

        def read(each: Read) -> str:
            name = each.access.array
            if name in self.row.sources:
                return self.row.sources[name](self._number())
            if name not in self.writers:
                return memory(each)
            is_column = bool(self.along & set(self.writers[name].extents()))
            is_column = is_column and self.writers[name].reduce is None
            if not is_column:
                return self._of(scalar(name))
            if name in self.here:
                return scalar(name)
            if name in self.found.kept:
                return f"{_buffer(name)}[{self._kept_at()}]"
            return memory(each)

        return expression(stmt.body, extents, read)

    def _array(self, stmt: Stmt) -> Array:
        return self.row.context.arrays[stmt.output.array]

    def _kept_at(self) -> str:
        number = self._number()
        return number if self.row.lane is None else f"({number}) * {self.row.lanes} + lane"

    def _number(self) -> str:
        of = Affine()
        for each in self.row.columns:
            of = of * each.extent + Affine(((each.name, 1),))
        return affine_text(of, {each.name: each.extent for each in self.row.columns})


def _reduce(stmt: Stmt) -> Reduce:
    if stmt.reduce is None:
        raise ValueError(f"{stmt.name} folds nothing")
    return stmt.reduce
