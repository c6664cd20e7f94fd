"""Tiles of contractions, and which are worth trying."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from typing import Literal
from typing import TypeAlias

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.emit.triton.target import Precision
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.words import power_of_two

Form: TypeAlias = Literal["pointers", "descriptors", "persistent"]

LEAST = 16
"""Smallest side of a tile that ``tl.dot`` takes everywhere."""
MOST_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Tile:
    """How one contraction is cut up.

    Attributes:
        m, n, k: Elements of a tile, powers of two.
        warps, stages: As Triton means them on the target.
        group_m: Tiles along m that run next to each other, so that they share columns in cache.
        form: How factors are read: through blocks of pointers, through tensor descriptors, or the
            latter with programs that stay and take tile after tile.
        precision: Of products of float32 factors.
        parts: Pieces of the epilogue along n, so that less of it is in registers at once.
    """

    m: int
    n: int
    k: int
    warps: int
    stages: int
    group_m: int = 8
    form: Form = "pointers"
    precision: Precision = "ieee"
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """Sizes of one contraction.

    Attributes:
        batch, m, n, k: Points of each role.
        dtype: Torch name of what the matrix unit is given.
        folded: Elements of n that folds after the contraction need in one tile; 1: none.
        may_describe: Whether both factors can be read through descriptors.
    """

    batch: int
    m: int
    n: int
    k: int
    dtype: str
    folded: int = 1
    may_describe: bool = False


_HALF_SIZES = (
    (128, 256, 64, 8, 4),
    (256, 128, 64, 8, 4),
    (128, 128, 64, 4, 4),
    (64, 256, 64, 4, 4),
    (128, 64, 64, 4, 4),
    (64, 128, 64, 4, 4),
    (64, 64, 64, 4, 4),
    (32, 64, 128, 4, 4),
    (16, 64, 128, 4, 4),
    (16, 128, 128, 4, 4),
)
"""m, n, k, warps, stages for two-byte factors, largest first."""
_WIDE_SIZES = (
    (128, 128, 32, 8, 3),
    (128, 64, 32, 4, 3),
    (64, 128, 32, 4, 3),
    (64, 64, 32, 4, 3),
    (32, 64, 64, 4, 3),
    (16, 64, 64, 4, 3),
)


def candidates(
    problem: Problem, target: TritonTarget, precision: Precision | None = None
) -> list[Tile]:
    """Return at most `MOST_CANDIDATES` tiles that fit, the one to take without measuring first.

    Args:
        problem: What is cut.
        target: Where it runs.
        precision: Of float32 products; None for the one of the target that loses nothing.
    """
    sizes = _HALF_SIZES if DTYPES[problem.dtype].size_bytes == 2 else _WIDE_SIZES  # noqa: PLR2004
    found: dict[tuple[int, int, int], Tile] = {}
    for m, n, k, warps, stages in sizes:
        tile = Tile(m, n, k, warps, min(stages, target.most_stages))
        tile = _clipped(replace(tile, precision=precision or target.full_precision), problem)
        if _fits(tile, problem, target):
            found.setdefault((tile.m, tile.n, tile.k), tile)
    kept = sorted(found.values(), key=lambda each: _cost(each, problem, target))
    return [_formed(each, problem, target) for each in kept[:MOST_CANDIDATES]]


def _clipped(tile: Tile, problem: Problem) -> Tile:
    """Return a tile that is not larger than the problem, and holds what folds need."""
    needed = power_of_two(problem.folded)
    n = max(min(tile.n, max(LEAST, power_of_two(problem.n))), needed, LEAST)
    m = min(tile.m, max(LEAST, power_of_two(problem.m)))
    k = min(tile.k, max(LEAST, power_of_two(problem.k)))
    return replace(tile, m=m, n=n, k=k)


def _fits(tile: Tile, problem: Problem, target: TritonTarget) -> bool:
    """Say whether operands fit into shared memory and the accumulator into registers."""
    size = DTYPES[problem.dtype].size_bytes
    buffers = tile.stages if target.buffers_count_stages else 1
    operands = buffers * (tile.m + tile.n) * tile.k * size
    # The epilogue stages a tile of the result through the same memory at the end.
    accumulator = tile.m * tile.n / (tile.warps * target.lanes)
    return operands <= target.shared_bytes * 0.9 and accumulator <= 128  # noqa: PLR2004


def _cost(tile: Tile, problem: Problem, target: TritonTarget) -> float:
    """Return a number that grows with the time: waves of tiles, and traffic of their operands."""
    count = math.ceil(problem.m / tile.m) * math.ceil(problem.n / tile.n) * problem.batch
    waves = math.ceil(count / target.units)
    # A tile's arithmetic grows with its area, its traffic with its sides.
    area = tile.m * tile.n
    efficiency = 1.0 / (1.0 + 24.0 * (tile.m + tile.n) / area)
    return waves * area / efficiency


def _formed(tile: Tile, problem: Problem, target: TritonTarget) -> Tile:
    """Choose how operands are read, and in how many parts results leave."""
    if not (target.has_descriptors and problem.may_describe):
        return tile
    is_wide = tile.m * tile.n >= 128 * 256 and problem.folded == 1
    return replace(tile, form="persistent", parts=2 if is_wide else 1)


def of_one_form(tiles: list[Tile]) -> Iterator[Tile]:
    """Yield the tiles that share the form of the first: one kernel has one form."""
    first = tiles[0]
    for each in tiles:
        if (each.form, each.parts, each.precision) == (first.form, first.parts, first.precision):
            yield each
