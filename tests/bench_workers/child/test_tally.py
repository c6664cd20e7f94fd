"""Sums over interpreted programs, and whose memory an address belongs to."""

from collections import Counter

import numpy as np
import pytest

from bench_workers.child.tally import Region
from bench_workers.child.tally import Tally
from bench_workers.child.tally import TooSlow
from bench_workers.child.tally import regions_of

NEVER = float("inf")


class Laid:
    """A tensor as far as memory is concerned."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.shape = shape
        self._address = address
        self._strides = strides

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def element_size(self) -> int:
        return 2

    def data_ptr(self) -> int:
        return self._address


def test_regions_are_sorted_and_hold_what_the_tensors_reach() -> None:
    found = regions_of([Laid(5000, (10, 10), (10, 1)), Laid(1000, (4,), (100,))])
    assert found == [Region(1000, 1000 + 2 * 301, 8), Region(5000, 5200, 200)]


def test_views_of_one_memory_are_one_region() -> None:
    found = regions_of([Laid(1000, (8, 8), (8, 1)), Laid(1000, (8, 8), (1, 8))])
    assert found == [Region(1000, 1128, 128)]


def test_expanded_and_empty_tensors_count_once_or_not_at_all() -> None:
    assert regions_of([Laid(1000, (64, 8), (0, 1)), Laid(9000, (0, 8), (8, 1))]) == [
        Region(1000, 1016, 16)
    ]


def test_accesses_are_scaled_to_the_whole_grid_and_bounded_by_memory() -> None:
    tally = Tally([Region(1000, 1200, 200), Region(4000, 8000, 4000)], NEVER)
    addresses = np.arange(1000, 1100, 2, dtype=np.uint64)
    mask = np.arange(50) < 20
    tally.access(tally.loaded, addresses, None, 2)
    tally.access(tally.loaded, addresses, mask, 2)
    tally.access(tally.stored, addresses + np.uint64(3000), None, 2)
    work = tally.work("k", programs=10, interpreted=2)
    assert work["loaded_bytes"] == 5 * (100 + 40)
    assert work["stored_bytes"] == 5 * 100
    assert work["unique_bytes"] == 200 + 500
    assert tally.steps == 3


def test_the_first_active_lane_decides_whose_memory_it_is() -> None:
    tally = Tally([Region(1000, 1200, 200)], NEVER)
    addresses = np.array([0, 0, 1100], dtype=np.uint64)
    tally.access(tally.loaded, addresses, np.array([False, False, True]), 4)
    assert tally.loaded == Counter({0: 4})


def test_accesses_outside_all_tensors_are_unbounded() -> None:
    tally = Tally([Region(1000, 1200, 200)], NEVER)
    for address in (999, 1200, 10**9):
        tally.access(tally.loaded, np.array([address], dtype=np.uint64), None, 4)
    assert tally.loaded == Counter({-1: 12})
    assert tally.work("k", 100, 1)["unique_bytes"] == 1200


def test_an_access_with_no_active_lane_counts_nothing() -> None:
    tally = Tally([], NEVER)
    tally.access(tally.loaded, np.zeros(4, np.uint64), np.zeros(4, bool), 4)
    assert tally.loaded == Counter()


def test_time_is_looked_at_on_every_access() -> None:
    tally = Tally([], 0.0)
    with pytest.raises(TooSlow):
        tally.access(tally.loaded, np.zeros(4, np.uint64), None, 4)
