"""Which group a statement starts, and which it makes of a group that it joins."""

from dataclasses import replace

from xeforge.fusion.fuse import contraction
from xeforge.fusion.fuse import nest
from xeforge.fusion.fuse import pointwise
from xeforge.fusion.fuse import rows
from xeforge.fusion.fuse.align import align
from xeforge.fusion.fuse.align import align_sibling
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


class Joins:
    """Answers that are computed once.

    Plans of one program differ in few statements, so that most groups of a search are grown
    before. Keys are the objects themselves, which are kept alive here.

    Args:
        machine: Says how much a tile may hold, and what the emitter can do.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._reads: dict[int, tuple[Stmt, frozenset[str]]] = {}
        self._started: dict[int, tuple[Stmt, tuple[Group, tuple[str, ...]]]] = {}
        self._joined: dict[tuple[int, int], tuple[Group, Stmt, Group | None]] = {}
        self._stored: dict[tuple[int, frozenset[str]], tuple[Group, Group]] = {}

    def reads(self, stmt: Stmt) -> frozenset[str]:
        """Return the arrays that a statement reads."""
        if id(stmt) not in self._reads:
            names = frozenset(each.access.array for each in stmt.reads())
            self._reads[id(stmt)] = stmt, names
        return self._reads[id(stmt)][1]

    def start(self, stmt: Stmt) -> tuple[Group, tuple[str, ...]]:
        """Return the group that starts with a statement, and notes."""
        if id(stmt) not in self._started:
            self._started[id(stmt)] = stmt, _start(stmt, self.machine)
        return self._started[id(stmt)][1]

    def join(self, group: Group, stmt: Stmt, *, is_reader: bool) -> Group | None:
        """Return the group with a statement, or None where it does not fit.

        Args:
            group: Any.
            stmt: To come last.
            is_reader: Whether it reads what the group writes, and not only the same arrays.
        """
        key = id(group), id(stmt)
        if key not in self._joined:
            aligned = (align if is_reader else align_sibling)(group, stmt)
            joined = None
            if aligned is not None:
                joined = _join(aligned.group, aligned.stmt, self.machine)
            self._joined[key] = group, stmt, joined
        return self._joined[key][2]

    def stored(self, group: Group, needed: frozenset[str]) -> Group:
        """Return the group as it is in a plan: with the arrays that it stores.

        Args:
            group: Grown to its end.
            needed: Of its arrays, those that are needed outside.
        """
        key = id(group), needed
        if key not in self._stored:
            written = (each.output.array for each in group.statements)
            stored = tuple(name for name in written if name in needed)
            is_single = group.family == "nest" and len(group.statements) == 1
            axes = {} if is_single else group.axes
            self._stored[key] = group, replace(group, stored=stored, axes=axes)
        return self._stored[key][1]


def _start(stmt: Stmt, machine: Machine) -> tuple[Group, tuple[str, ...]]:
    kinds: list[Group | str] = [pointwise.recognise(stmt)]
    if stmt.reduce is not None:
        kinds = []
        if machine.has_matrix_units:
            kinds += [contraction.recognise(stmt, windows=machine.contracts_windows)]
        # A convolution as rows would read its windows again for each channel.
        is_windowed = contraction.is_sum_of_products(stmt) and contraction.window(stmt)
        kinds += [] if is_windowed else [rows.recognise(stmt)]
    reasons = [each for each in kinds if isinstance(each, str)]
    found = next((each for each in kinds if isinstance(each, Group)), None)
    if found is not None:
        return found, ()
    why = "; ".join(reasons) or "the machine has no units for its products"
    return nest.recognise(stmt), (f"{stmt.name} is a nest: {why}",)


def _join(group: Group, stmt: Stmt, machine: Machine) -> Group | None:
    if group.family == "contraction":
        return contraction.join(group, stmt, most_columns=machine.most_columns)
    joins = {"rows": rows.join, "pointwise": pointwise.join, "nest": nest.join}
    return joins[group.family](group, stmt)
