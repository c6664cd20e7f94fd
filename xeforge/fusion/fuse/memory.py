"""Which axes memory runs along in a group of rows, and what one program takes because of that.

Memory hands out neighbours together, so that threads side by side must want elements side by side.
Where the largest array that a group reads has its neighbours along the columns, a program takes
whole rows. Where it has them along the rows (a sum down the columns of a matrix), a program takes
as many rows as there are lanes, and walks over the columns.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from math import inf
from math import prod

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Quotient
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.plan import Group

MOST_LANES = 128
"""Rows side by side, where there are enough of them for all programs."""
LINE_BYTES = 128
"""What lanes read at least together: a line of cache."""
TILE_POINTS = 4096
"""Points that one program looks at together: 32 of each of 128 threads."""
_SMALL_POINTS = 1024
"""Points of a program at most that has several short rows."""
FEWEST_LANES = 16
"""Rows side by side that still fill a sector of memory with halves."""
SECTOR_BYTES = 32
"""What memory hands out at least."""
HELD_POINTS = 16384
"""Points up to which a program keeps all its columns in registers."""
PROGRAMS_PER_UNIT = 4
"""Programs of that size that a multiprocessor needs to keep memory busy."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How a kernel goes over the points of a group of rows.

    Attributes:
        rows: Axes of the rows, outermost first, the last one closest in memory.
        columns: Axes of the columns, likewise.
        lanes: Rows that a program takes together, a power of two; 1 where it walks along rows.
    """

    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...]
    lanes: int

    def is_held(self) -> bool:
        """Say whether the columns of a program fit into its registers together."""
        return self.lanes * _power_of_two(_points(self.columns)) <= HELD_POINTS

    def tiles(self) -> int:
        """Return how many tiles of `TILE_POINTS` all programs together look at at once."""
        count, width = _points(self.rows), _points(self.columns)
        if self.lanes == 1 and width < _SMALL_POINTS:
            return min(count, ceil(count * width / _SMALL_POINTS))
        each = ceil(self.lanes * width / TILE_POINTS) if self.is_held() else 1
        return ceil(count / self.lanes) * each


def walk_of(group: Group, arrays: Mapping[str, Array], *, units: int) -> Walk:
    """Return how a group of family ``rows`` is walked.

    Args:
        group: Any of that family.
        arrays: Of the program, by name.
        units: Multiprocessors that are to be filled.
    """
    rows, columns = tuple(group.axes["row"]), tuple(group.axes["column"])
    largest = _largest_read(group)
    if largest is None:
        return Walk(rows, columns, 1)
    extents = {each.name: each.extent for each in (*rows, *columns)}
    array = arrays[largest.array]
    steps = steps_of(largest, array.shape, extents)
    # What comes first wins where two axes step alike, as in windows.
    names = [each.name for each in (*reversed(columns), *reversed(rows)) if each.name in steps]
    closest = min(names, key=lambda name: steps[name], default=None)
    if closest is None or closest in {each.name for each in columns}:
        return Walk(rows, _by_memory(columns, closest, steps), 1)
    rows = _by_memory(rows, closest, steps)
    size = DTYPES[array.dtype].size_bytes
    lanes = _lanes(rows, columns, _run(rows, steps), size, units)
    if _reads_again(group):
        # What is looked at more than once is better held, as long as lanes still fill sectors.
        held = min(lanes, HELD_POINTS // _power_of_two(_points(columns)))
        lanes = held if held >= min(lanes, FEWEST_LANES) else lanes
    return Walk(rows, columns, lanes)


def _reads_again(group: Group) -> bool:
    """Say whether something along the columns waits for a fold of them."""
    columns = {each.name for each in group.axes["column"]}
    late: set[str] = set()
    for stmt in group.statements:
        waits = any(each.access.array in late for each in stmt.reads())
        if waits and columns & set(stmt.extents()):
            return True
        if waits or stmt.reduce is not None:
            late.add(stmt.output.array)
    return False


def fetched_ratio(access: Access, array: Array, walk: Walk) -> float:
    """Return how many bytes are fetched for each that a kernel wants of an array.

    More than 1 where a program has a single row and strides through the array: of each sector it
    takes one element.
    """
    if walk.lanes > 1 or 2 * _points(walk.columns) <= TILE_POINTS:
        return 1.0
    extents = {each.name: each.extent for each in (*walk.rows, *walk.columns)}
    steps = steps_of(access, array.shape, extents)
    step = min((steps[each.name] for each in walk.columns if each.name in steps), default=1)
    size = DTYPES[array.dtype].size_bytes
    return max(1.0, min(step * size, SECTOR_BYTES) / size)


def steps_of(access: Access, shape: Sequence[int], extents: Mapping[str, int]) -> dict[str, int]:
    """Return how many elements apart neighbours along each axis are; axes that move nothing not.

    What moves an index by divisions alone is left out: neighbours then share elements.
    """
    found: dict[str, int] = {}
    step = 1
    for index, size in zip(reversed(access.index), reversed(shape), strict=True):
        for name, times in _plain_steps(index.simplified(extents)):
            found[name] = found.get(name, 0) + step * times
        step *= size
    return {name: abs(each) for name, each in found.items() if each}


def _plain_steps(of: Affine) -> Iterator[tuple[str, int]]:
    for atom, times in of.terms:
        if isinstance(atom, str):
            yield atom, times
        elif not isinstance(atom, Quotient):
            yield from ((name, times * step) for name, step in _plain_steps(atom.of))


def _largest_read(group: Group) -> Access | None:
    """Return the access of memory that reaches the most bytes; the first of several."""
    given = frozenset(group.given())
    most, found = 0, None
    for stmt in group.statements:
        extents = stmt.extents()
        for read in stmt.reads():
            if read.access.array not in given:
                continue
            names = {name for each in read.access.index for name in each.names()}
            reached = prod(extents[name] for name in names) * DTYPES[read.dtype].size_bytes
            if reached > most:
                most, found = reached, read.access
    return found


def _by_memory(
    axes: tuple[Axis, ...], closest: str | None, steps: Mapping[str, int]
) -> tuple[Axis, ...]:
    """Bring the closest axis to the end, unless it is there: then the order is the program's."""
    if closest is None or axes[-1].name == closest:
        return axes
    return tuple(sorted(axes, key=lambda each: -steps.get(each.name, inf)))


def _run(rows: Sequence[Axis], steps: Mapping[str, int]) -> int:
    """Return how many rows lie evenly spaced: the last axis, and those that continue it."""
    run = rows[-1].extent
    for outer, inner in zip(rows[-2::-1], rows[:0:-1], strict=True):
        if steps.get(outer.name) != inner.extent * steps[inner.name]:
            break
        run *= outer.extent
    return run


def _lanes(
    rows: Sequence[Axis], columns: Sequence[Axis], run: int, size_bytes: int, units: int
) -> int:
    """Return as many lanes as memory likes and the number of programs allows."""
    count, width = _points(rows), _points(columns)
    lanes = max(min(MOST_LANES, _power_of_two(run)), TILE_POINTS // _power_of_two(width))
    lanes = min(lanes, _power_of_two(count))
    while lanes * size_bytes > LINE_BYTES and ceil(count / lanes) < PROGRAMS_PER_UNIT * units:
        lanes //= 2
    return lanes


def _points(axes: Sequence[Axis]) -> int:
    return prod(each.extent for each in axes)


def _power_of_two(least: int) -> int:
    """Return the smallest power of two that is not below `least`, a positive number."""
    return 1 << (least - 1).bit_length()
