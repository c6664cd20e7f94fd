"""The few programs that stand for a whole grid."""

import pytest

from bench_workers.child.sampling import SAMPLES
from bench_workers.child.sampling import sample_programs


@pytest.mark.parametrize("grid", [(1,), (4,), (2, 2), (1, 3, 1)])
def test_small_grids_are_taken_whole(grid) -> None:
    found = sample_programs(grid)
    assert len(found) == len(set(found))
    assert all(0 <= place < size for id_ in found for place, size in zip(id_, grid, strict=True))
    total = 1
    for size in grid:
        total *= size
    assert len(found) == total


@pytest.mark.parametrize("grid", [(5,), (4096,), (64, 64), (7, 1, 300), (1, 132)])
@pytest.mark.parametrize("seed", range(5))
def test_linear_work_is_averaged_exactly(grid, seed: int) -> None:
    found = sample_programs(grid, seed)
    assert len(found) == SAMPLES
    for axis, size in enumerate(grid):
        places = [id_[axis] for id_ in found]
        assert all(0 <= place < size for place in places)
        assert sum(places) / SAMPLES == (size - 1) / 2


def test_every_quarter_of_a_long_axis_is_hit() -> None:
    for seed in range(20):
        places = sorted(id_[0] for id_ in sample_programs((4000,), seed))
        assert [place // 1000 for place in places] == [0, 1, 2, 3]


def test_a_prefix_of_two_is_balanced_too() -> None:
    first, second, *_ = sample_programs((1001, 77), 3)
    assert (first[0] + second[0], first[1] + second[1]) == (1000, 76)


def test_the_choice_is_repeatable() -> None:
    assert sample_programs((100, 100), 7) == sample_programs((100, 100), 7)
    assert sample_programs((100, 100), 7) != sample_programs((100, 100), 8)
