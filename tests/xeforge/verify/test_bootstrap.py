"""Resampling respects neighbourhood and repeats exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xeforge.verify.bootstrap import RESAMPLES
from xeforge.verify.bootstrap import block_length
from xeforge.verify.bootstrap import hodges_lehmann
from xeforge.verify.bootstrap import interval
from xeforge.verify.bootstrap import resampled_medians


def test_independent_values_make_blocks_of_the_square_root():
    values = np.random.default_rng(0).normal(size=100)
    assert block_length(values) == 10


def test_values_that_resemble_their_neighbours_make_longer_blocks():
    values = np.cumsum(np.random.default_rng(0).normal(size=400))
    assert block_length(values) > 40


def test_blocks_are_at_most_a_quarter_and_at_least_one():
    assert block_length(np.arange(8.0)) == 2
    assert block_length(np.array([1.0, 2.0])) == 1
    assert block_length(np.ones(16)) == 4


def test_interval_of_identical_values_has_no_width():
    medians = resampled_medians(np.full(30, 0.25), np.random.default_rng(1))
    assert interval(medians) == (0.25, 0.25)


def test_same_seed_same_medians():
    values = np.random.default_rng(0).normal(size=50)
    first = resampled_medians(values, np.random.default_rng(3))
    second = resampled_medians(values, np.random.default_rng(3))
    assert np.array_equal(first, second)
    assert len(first) == RESAMPLES


def test_interval_covers_the_truth_about_as_often_as_it_says():
    hits = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        low, high = interval(resampled_medians(generator.normal(0, 1, 60), generator))
        hits += low <= 0 <= high
    assert hits >= 85


def test_interval_is_wider_for_autocorrelated_values():
    hits = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        noise = generator.normal(0, 1, 240)
        values = np.zeros(240)
        for index in range(1, 240):
            values[index] = 0.6 * values[index - 1] + noise[index]
        low, high = interval(resampled_medians(values, generator))
        hits += low <= 0 <= high
    assert hits >= 48


def test_hodges_lehmann_is_the_median_of_pairwise_means():
    assert hodges_lehmann(np.array([1.0, 2.0, 9.0])) == pytest.approx(3.5)
    assert hodges_lehmann(np.array([4.0])) == 4.0


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60), st.integers(0, 99))
def test_medians_lie_within_the_values(values, seed):
    medians = resampled_medians(np.array(values), np.random.default_rng(seed))
    assert medians.min() >= min(values) - 1e-12
    assert medians.max() <= max(values) + 1e-12
