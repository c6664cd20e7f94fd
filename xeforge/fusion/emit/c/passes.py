"""In how few passes over its columns a row can be computed, and what is kept between them."""

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import children
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt

CHEAP_CALLS = 4
CHEAP_READS = 3
_CHEAP = {
    *("add", "sub", "mul", "neg", "abs", "minimum", "maximum", "relu", "cast", "where"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
}


@dataclass(frozen=True, slots=True)
class Pass:
    """One walk over the columns.

    Attributes:
        before: Statements on the row alone, computed first.
        columns: Statements and folds inside the loop, in order; none in a last pass of rows.
    """

    before: tuple[Stmt, ...]
    columns: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a row is computed.

    Attributes:
        passes: In order.
        first: Number of the pass that first computes each array along the columns; there it is
            stored.
        kept: Arrays along the columns that wait in a buffer for a later pass.
    """

    passes: tuple[Pass, ...]
    first: dict[str, int]
    kept: tuple[str, ...]


def is_along(stmt: Stmt, columns: Collection[str]) -> bool:
    """Say whether a statement gives one value for each column."""
    return stmt.reduce is None and any(each.name in columns for each in stmt.axes)


def schedule(stmts: Sequence[Stmt], columns: Collection[str], stored: Collection[str]) -> Schedule:
    """Put each statement into the first pass that has what it reads.

    A value along the columns that a later pass reads again is computed again where that is
    cheap, read back where it is stored anyway, and kept in a buffer else.
    """
    return _Scheduler(stmts, columns, stored).result()


class _Scheduler:
    def __init__(
        self, stmts: Sequence[Stmt], columns: Collection[str], stored: Collection[str]
    ) -> None:
        self.stmts = stmts
        self.columns = columns
        self.stored = stored
        self.writers = {each.output.array: each for each in stmts}
        # The pass of what runs along the columns; of others, the pass before which it is known.
        self.at: dict[str, int] = {}
        for stmt in stmts:
            self.at[stmt.output.array] = max(
                (self._known(name) for name in self._inputs(stmt)), default=0
            )
        self.loops: list[set[str]] = [set() for _ in range(max(self.at.values()) + 2)]
        self.kept: set[str] = set()

    def result(self) -> Schedule:
        for stmt in self.stmts:
            name = stmt.output.array
            if stmt.reduce is not None or (self._is_along(name) and name in self.stored):
                self._demand(name, self.at[name])
        passes = []
        for number, loop in enumerate(self.loops):
            before = tuple(
                each
                for each in self.stmts
                if each.reduce is None
                and not self._is_along(each.output.array)
                and self.at[each.output.array] == number
            )
            columns = tuple(each for each in self.stmts if each.output.array in loop)
            if before or columns:
                passes.append((number, Pass(before, columns)))
        order = {number: place for place, (number, _) in enumerate(passes)}
        first = {name: order[at] for name, at in self.at.items() if at in order}
        kept = tuple(name for name in self.writers if name in self.kept)
        return Schedule(tuple(each for _, each in passes), first, kept)

    def _inputs(self, stmt: Stmt) -> list[str]:
        names = (each.access.array for each in stmt.reads())
        return [name for name in dict.fromkeys(names) if name in self.writers]

    def _is_along(self, name: str) -> bool:
        return is_along(self.writers[name], self.columns)

    def _known(self, name: str) -> int:
        return self.at[name] + (self.writers[name].reduce is not None)

    def _demand(self, name: str, number: int) -> None:
        """Have a value along the columns, or a fold, in a pass."""
        stmt = self.writers[name]
        if number > self.at[name] and (name in self.stored or not is_cheap(stmt.body)):
            if name not in self.stored:
                self.kept.add(name)
            number = self.at[name]
        if name in self.loops[number]:
            return
        self.loops[number].add(name)
        for other in self._inputs(stmt):
            if self._is_along(other):
                self._demand(other, number)


def is_cheap(value: Expr) -> bool:
    """Say whether computing an expression again costs no more than storing and loading it."""
    calls, reads = 0, 0
    waiting = [value]
    while waiting:
        part = waiting.pop()
        waiting += children(part)
        if isinstance(part, Select) or (isinstance(part, Read) and part.access.guard):
            return False
        reads += isinstance(part, Read)
        if isinstance(part, Call):
            if part.function not in _CHEAP:
                return False
            calls += FUNCTIONS[part.function].flops
    return calls <= CHEAP_CALLS and reads <= CHEAP_READS
