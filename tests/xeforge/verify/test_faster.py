"""Planted differences are found, planted noise is not taken for one."""

from dataclasses import replace
from math import isinf
from math import isnan
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from xeforge.domain.verdict import Speed
from xeforge.verify.faster import compare
from xeforge.verify.faster import compare_all
from xeforge.verify.faster import compare_estimates

SEEDS = range(12)


def swapped(samples):
    return replace(
        samples, first_seconds=samples.second_seconds, second_seconds=samples.first_seconds
    )


def test_ten_percent_gain_is_found(make):
    for seed in SEEDS:
        found = compare(make.drawn(1.10, sigma=0.01, pairs=60, seed=seed))
        assert found.speed is Speed.FASTER
        assert found.ratio.low < 1.10 < found.ratio.high or abs(found.ratio.estimate - 1.1) < 0.02


def test_five_percent_slow_down_is_found(make):
    for seed in SEEDS:
        found = compare(make.drawn(1 / 1.05, sigma=0.005, pairs=60, control=60, seed=seed))
        assert found.speed is Speed.SLOWER


def test_same_kernel_on_both_sides_is_the_same(make):
    for seed in SEEDS:
        found = compare(make.drawn(1.0, sigma=0.005, pairs=60, seed=seed))
        assert found.speed is Speed.SAME


def test_no_win_is_claimed_for_equal_kernels_however_noisy(make):
    for seed in range(60):
        for sigma in (0.002, 0.02, 0.1):
            found = compare(make.drawn(1.0, sigma=sigma, pairs=30, seed=seed))
            assert found.speed is not Speed.FASTER


def test_swapped_roles_give_the_reciprocal(make):
    given = make.drawn(1.2, seed=3)
    there, back = compare(given), compare(swapped(given))
    assert there.ratio.estimate == pytest.approx(1 / back.ratio.estimate)
    assert there.ratio.low == pytest.approx(1 / back.ratio.high, rel=1e-9)
    assert (there.speed, back.speed) == (Speed.FASTER, Speed.SLOWER)
    assert there.second_opinion == pytest.approx(1 / back.second_opinion)


def test_common_drift_cancels(make):
    generator = np.random.default_rng(0)
    drift = np.exp(np.linspace(0, 0.3, 80))
    noise = np.exp(generator.normal(0, 0.005, (2, 80)))
    control = (np.exp(generator.normal(0, 0.005, 20)), np.exp(generator.normal(0, 0.005, 20)))
    same = make.samples(1e-3 * drift * noise[0], 1e-3 * drift * noise[1], control)
    assert compare(same).speed is Speed.SAME
    faster = make.samples(1e-3 * drift * noise[0], 0.9e-3 * drift * noise[1], control)
    assert compare(faster).speed is Speed.FASTER
    assert compare(faster).ratio.estimate == pytest.approx(1 / 0.9, rel=0.01)


def test_heavy_tails_do_not_decide(make):
    generator = np.random.default_rng(1)
    first = 1e-3 * np.exp(generator.normal(0, 0.005, 80))
    second = 1e-3 * np.exp(generator.normal(0, 0.005, 80))
    first[::8] *= 5
    control = (first[:20:3], second[:20:3])
    assert compare(make.samples(first, second, control)).speed in (Speed.SAME, Speed.UNDECIDED)


def test_slow_waves_do_not_pass_for_a_gain(make):
    wins = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        wave = np.zeros(100)
        for index in range(1, 100):
            wave[index] = 0.8 * wave[index - 1] + generator.normal(0, 0.01)
        first = 1e-3 * np.exp(wave)
        control = (np.exp(wave[:20]), np.ones(20))
        wins += compare(make.samples(first, np.full(100, 1e-3), control)).speed is Speed.FASTER
    assert wins <= 1


def test_identical_samples_are_the_same(make):
    found = compare(make.samples([1e-3] * 30, [1e-3] * 30, ([1e-3] * 10, [1e-3] * 10)))
    assert found.speed is Speed.SAME
    assert found.ratio.low == found.ratio.estimate == found.ratio.high == 1.0
    assert found.noise_floor == 0.0
    assert found.effect == 0.02


def test_noise_of_the_control_raises_the_bar(make):
    noisy = np.exp(np.random.default_rng(0).normal(0, 0.2, 20))
    clean = make.samples([1.05e-3] * 40, [1e-3] * 40, ([1.0] * 20, [1.0] * 20))
    assert compare(clean).speed is Speed.FASTER
    dirty = replace(clean, control_first_seconds=tuple(noisy))
    assert compare(dirty).speed is not Speed.FASTER
    assert compare(dirty).effect == pytest.approx(3 * compare(dirty).noise_floor)


def test_biased_control_raises_the_bar(make):
    biased = ([1.03] * 20, [1.0] * 20)
    found = compare(make.samples([1.05e-3] * 40, [1e-3] * 40, biased))
    assert found.noise_floor == pytest.approx(log(1.03))
    assert found.speed is not Speed.FASTER


def test_a_bench_that_cannot_see_a_tenth_does_not_call_kernels_the_same(make):
    biased = ([1.10] * 20, [1.0] * 20)
    found = compare(make.samples([1.2e-3] * 40, [1e-3] * 40, biased))
    assert found.effect > 0.2
    assert found.speed is Speed.UNDECIDED
    near = compare(make.samples([1.01e-3] * 40, [1e-3] * 40, biased))
    assert near.speed is Speed.SAME


def test_short_kernels_need_five_percent(make):
    control = ([1.0] * 20, [1.0] * 20)
    found = compare(make.samples([10.4e-6] * 40, [10e-6] * 40, control))
    assert found.effect == 0.05
    assert found.speed is Speed.SAME
    assert compare(make.samples([10.4e-3] * 40, [10e-3] * 40, control)).speed is Speed.FASTER


def test_without_control_or_with_few_pairs_nothing_is_decided(make):
    found = compare(make.samples([2e-3] * 40, [1e-3] * 40))
    assert found.speed is Speed.UNDECIDED
    assert isinf(found.noise_floor)
    control = ([1.0] * 20, [1.0] * 20)
    assert compare(make.samples([2e-3] * 7, [1e-3] * 7, control)).speed is Speed.UNDECIDED
    assert compare(make.samples([2e-3] * 8, [1e-3] * 8, control)).speed is Speed.FASTER


def test_wide_interval_is_undecided(make):
    found = compare(make.drawn(1.03, sigma=0.05, pairs=30, control=400, seed=5))
    assert found.speed is Speed.UNDECIDED


def test_second_opinion_can_withhold_a_win(make):
    first = np.array([1.05] * 21 + [0.5] * 19) * 1e-3
    found = compare(make.samples(first, [1e-3] * 40, ([1.0] * 20, [1.0] * 20)))
    assert found.ratio.estimate == pytest.approx(1.05)
    assert found.second_opinion < 1.01
    assert found.speed is Speed.UNDECIDED


def test_mean_weighs_the_workloads(make):
    control = ([1.0] * 20, [1.0] * 20)
    one = make.samples([1.2e-3] * 30, [1e-3] * 30, control, workload="a[0]", weight=3.0)
    two = make.samples([1.0e-3] * 30, [1e-3] * 30, control, workload="b[0]", weight=1.0)
    whole, each = compare_all([one, two])
    assert whole.ratio.estimate == pytest.approx(1.2**0.75)
    assert whole.speed is Speed.FASTER
    assert [part.speed for part in each] == [Speed.FASTER, Speed.SAME]
    assert isnan(whole.first_seconds)
    assert each[0].first_seconds == pytest.approx(1.2e-3)
    assert whole.weight == 4.0


def test_one_slower_workload_spoils_the_mean(make):
    control = ([1.0] * 20, [1.0] * 20)
    one = make.samples([2e-3] * 30, [1e-3] * 30, control, workload="a[0]")
    two = make.samples([1e-3] * 30, [1.1e-3] * 30, control, workload="b[0]")
    whole, _ = compare_all([one, two])
    assert whole.ratio.estimate > 1.3
    assert whole.speed is Speed.SLOWER


def test_mean_of_one_workload_is_that_workload(make):
    whole, (only,) = compare_all([make.drawn(1.1, seed=2)])
    assert whole.ratio == only.ratio
    assert whole.speed is only.speed
    assert whole.effect == only.effect


def test_mean_without_control_is_undecided(make):
    whole, _ = compare_all([make.samples([2e-3] * 30, [1e-3] * 30)])
    assert whole.speed is Speed.UNDECIDED


def test_mean_has_a_narrower_interval_than_its_parts(make):
    parts = [make.drawn(1.1, sigma=0.03, seed=seed, workload=f"w[{seed}]") for seed in range(6)]
    whole, each = compare_all(parts)
    width = whole.ratio.high - whole.ratio.low
    assert all(width < part.ratio.high - part.ratio.low for part in each)


def test_same_samples_same_answer(make):
    given = make.drawn(1.05, seed=9)
    assert compare(given) == compare(given)


@settings(max_examples=25, deadline=None)
@given(
    ratio=st.floats(0.5, 2.0),
    sigma=st.floats(0.0, 0.1),
    pairs=st.integers(2, 80),
    seed=st.integers(0, 1000),
)
def test_estimate_lies_in_its_interval_and_scale_does_not_matter(make, ratio, sigma, pairs, seed):
    samples = make.drawn(ratio, sigma=sigma, pairs=pairs, seed=seed)
    found = compare(samples)
    assert 0 < found.ratio.low <= found.ratio.estimate <= found.ratio.high
    scaled = replace(
        samples,
        first_seconds=tuple(2 * each for each in samples.first_seconds),
        second_seconds=tuple(2 * each for each in samples.second_seconds),
    )
    again = compare(scaled)
    assert again.ratio.estimate == pytest.approx(found.ratio.estimate)
    assert again.speed is found.speed


@settings(max_examples=25, deadline=None)
@given(gain=st.floats(1.0, 1.5), seed=st.integers(0, 1000))
def test_making_the_candidate_faster_never_makes_it_slower(make, gain, seed):
    samples = make.drawn(1.0, sigma=0.01, pairs=30, seed=seed)
    better = replace(samples, second_seconds=tuple(each / gain for each in samples.second_seconds))
    order = [Speed.SLOWER, Speed.UNDECIDED, Speed.SAME, Speed.FASTER]
    before, after = compare(samples), compare(better)
    assert after.ratio.estimate >= before.ratio.estimate - 1e-12
    if before.speed is Speed.FASTER:
        assert after.speed is Speed.FASTER
    assert after.speed is not Speed.SLOWER or order.index(before.speed) == 0


def test_modelled_times_are_compared_without_noise(make):
    whole, each = compare_estimates([make.estimate(1.05)], [make.estimate(1.0)])
    assert whole.speed is each[0].speed is Speed.FASTER
    assert whole.ratio.low == whole.ratio.estimate == whole.ratio.high == pytest.approx(1.05)
    assert (whole.first_seconds, whole.second_seconds) == (1.05, 1.0)
    assert compare_estimates([make.estimate(1.04)], [make.estimate(1.0)])[0].speed is Speed.SAME
    assert compare_estimates([make.estimate(0.95)], [make.estimate(1.0)])[0].speed is Speed.SLOWER


def test_modelled_mean_weighs_and_one_slower_workload_spoils_it(make):
    before = [make.estimate(2.0, "a[0]", 3.0), make.estimate(1.0, "b[0]", 1.0)]
    after = [make.estimate(1.0, "a[0]", 3.0), make.estimate(1.0, "b[0]", 1.0)]
    whole, _ = compare_estimates(before, after)
    assert whole.ratio.estimate == pytest.approx(2**0.75)
    after[1] = make.estimate(1.2, "b[0]", 1.0)
    assert compare_estimates(before, after)[0].speed is Speed.SLOWER


@pytest.mark.parametrize("before", [[], [1e400], [0.0]])
def test_unknown_modelled_times_decide_nothing(make, before):
    given = [make.estimate(each) for each in before]
    whole, (only,) = compare_estimates(given, [make.estimate(1.0)])
    assert whole.speed is only.speed is Speed.UNDECIDED
    assert isnan(only.ratio.estimate)


def test_no_estimates_decide_nothing():
    whole, each = compare_estimates([], [])
    assert whole.speed is Speed.UNDECIDED
    assert each == ()
