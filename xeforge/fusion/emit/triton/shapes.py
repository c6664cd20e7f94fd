"""Which tile a program of a kernel of rows has: how many rows, how many columns at a time."""

import math
from dataclasses import dataclass

from xeforge.fusion.emit.triton.flat import MOST_POINTS
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.words import power_of_two
from xeforge.fusion.fuse.memory import Walk

_TILE = 2 * MOST_POINTS
_PER_WARP = 512
_PER_WARP_DOWN = 1024
"""Walking down, threads wait for memory with all their points: each of them has more."""
_MOST_WARPS = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """The tile of one program.

    Attributes:
        rows: That a program has.
        columns: That are looked at together, a power of two.
        is_held: Whether these are all columns.
        is_down: Whether the program walks down the columns: rows are the last dimension then.
    """

    rows: int
    columns: int
    is_held: bool
    is_down: bool = False

    @property
    def is_single(self) -> bool:
        """Say whether a program has one row, whose values are then scalars."""
        return self.rows == 1 and not self.is_down

    def warps(self, target: TritonTarget) -> int:
        """Return how many warps share the tile."""
        each = _PER_WARP_DOWN if self.is_down else _PER_WARP
        wanted = power_of_two(math.ceil(self.rows * self.columns / each))
        return min(_MOST_WARPS, target.most_warps, wanted)

    def dimension(self, of: str) -> str:
        """Return what makes a dimension of the tile of a list of positions.

        Args:
            of: ``"row"`` or ``"column"``.
        """
        if self.is_single:
            return ""
        return "[:, None]" if (of == "column") == self.is_down else "[None, :]"


def shape_of(walk: Walk, target: TritonTarget, *, passes: int) -> Shape:
    """Return the tile of a group.

    Args:
        walk: Of the group.
        target: What it is for.
        passes: How often the columns are looked at where they are not held.
    """
    count = math.prod(each.extent for each in walk.rows)
    width = math.prod(each.extent for each in walk.columns)
    columns = power_of_two(width)
    if walk.lanes > 1:
        return _down(walk.lanes, columns, target, passes)
    if width > target.longest_row:
        return Shape(1, target.chunk, is_held=False)
    rows = max(1, _TILE // columns)
    while rows > 1 and math.ceil(count / rows) < 2 * target.units:
        rows //= 2
    return Shape(rows, columns, is_held=True)


def _down(lanes: int, columns: int, target: TritonTarget, passes: int) -> Shape:
    together = max(1, target.chunk // lanes)
    if columns <= together:
        return Shape(lanes, columns, is_held=True, is_down=True)
    if passes > 1 and lanes * columns <= target.longest_row:
        return Shape(lanes, columns, is_held=True, is_down=True)
    return Shape(lanes, together, is_held=False, is_down=True)
