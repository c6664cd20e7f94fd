"""Chooses the few programs of a launch that stand for all of them."""

import random
from collections.abc import Sequence

SAMPLES = 4


def sample_programs(grid: Sequence[int], seed: int = 0) -> list[tuple[int, ...]]:
    """Return program ids, in pairs that mirror each other.

    Each axis is cut into as many strata as there are samples and every stratum is hit once, at a
    random place; the second half mirrors the first about the middle. So work that is constant or
    grows linearly along any axis, as under a causal mask, is averaged exactly, and no pattern of
    the grid (first row, last column, every 64th program) is favoured.

    Args:
        grid: Programs per axis.
        seed: Makes the choice repeatable.
    """
    total = 1
    for size in grid:
        total *= size
    if total <= SAMPLES:
        return [_unravel(index, grid) for index in range(total)]
    chance = random.Random(seed)  # noqa: S311 a sample, not a secret
    half = SAMPLES // 2
    columns = []
    for size in grid:
        strata = list(range(half))
        chance.shuffle(strata)
        # Either a stratum or its mirror image belongs to the first half of the samples.
        strata = [
            each if chance.random() < half / SAMPLES else SAMPLES - 1 - each for each in strata
        ]
        places = [int((each + chance.random()) / SAMPLES * size) for each in strata]
        columns.append([*places, *(size - 1 - place for place in places)])
    order = [
        index for pair in zip(range(half), range(half, SAMPLES), strict=True) for index in pair
    ]
    return [tuple(column[index] for column in columns) for index in order]


def _unravel(index: int, grid: Sequence[int]) -> tuple[int, ...]:
    place = []
    for size in grid:
        index, here = divmod(index, size)
        place.append(here)
    return tuple(place)
