"""How often a long row must be read: which statement is computed in which pass over it."""

from collections.abc import Iterable
from dataclasses import dataclass

from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the columns of a row.

    Attributes:
        before: Statements on rows alone that can be computed before it, and not earlier.
        inner: Statements along the columns, in order; folds among them add to their totals.
            What an earlier pass computed and did not keep is computed again.
        folds: Those of `inner` that are folds: complete after the pass.
        stores: Those of `inner` whose values are written to memory in this pass.
    """

    before: tuple[Stmt, ...]
    inner: tuple[Stmt, ...]
    folds: tuple[Stmt, ...]
    stores: tuple[Stmt, ...]


def passes_of(group: Group) -> tuple[Pass, ...]:
    """Return the passes in order: as few as the folds that wait for each other allow."""
    columns = {each.name for each in group.axes["column"]}
    writers = {stmt.output.array: stmt for stmt in group.statements}
    along = {stmt.name for stmt in group.statements if any(a.name in columns for a in stmt.axes)}
    level: dict[str, int] = {}
    ready: dict[str, int] = {}
    for stmt in group.statements:
        needed = _needed(stmt, writers)
        level[stmt.name] = max((ready[each.name] for each in needed), default=0)
        ready[stmt.name] = level[stmt.name] + (stmt.reduce is not None)
    count = max(ready.values()) + 1
    made = (_pass(group, number, level, along, writers) for number in range(count))
    return tuple(each for each in made if each.inner or each.before)


def _pass(
    group: Group,
    number: int,
    level: dict[str, int],
    along: set[str],
    writers: dict[str, Stmt],
) -> Pass:
    now = [each for each in group.statements if level[each.name] == number and each.name in along]
    folds = tuple(each for each in now if each.reduce is not None)
    stores = tuple(
        each for each in now if each.reduce is None and each.output.array in group.stored
    )
    wanted = _closed((*folds, *stores), along, writers)
    inner = tuple(each for each in group.statements if each.name in wanted)
    before = tuple(
        each for each in group.statements if each.name not in along and level[each.name] == number
    )
    return Pass(before, inner, folds, stores)


def _needed(stmt: Stmt, writers: dict[str, Stmt]) -> list[Stmt]:
    names = dict.fromkeys(read.access.array for read in stmt.reads())
    return [writers[name] for name in names if name in writers]


def _closed(targets: Iterable[Stmt], along: set[str], writers: dict[str, Stmt]) -> set[str]:
    """Return the names of statements along the columns that targets need, and of the targets."""
    found: set[str] = set()
    waiting = list(targets)
    while waiting:
        stmt = waiting.pop()
        if stmt.name in found:
            continue
        found.add(stmt.name)
        waiting += [
            each for each in _needed(stmt, writers) if each.name in along and each.reduce is None
        ]
    return found
