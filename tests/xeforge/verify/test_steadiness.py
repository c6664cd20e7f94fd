"""Changes of the card in mid-run: told, undecided or void, but never taken for a difference."""

from dataclasses import replace

import numpy as np
import pytest

from xeforge.domain.samples import Conditions
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import VoidReason
from xeforge.verify.steadiness import disturbed
from xeforge.verify.steadiness import fallen_clock
from xeforge.verify.steadiness import find_break
from xeforge.verify.steadiness import remarks


def slowed(samples, *, from_pair, first=1.0, second=1.0):
    """Multiply the sides' times from one pair on."""

    def late(seconds, factor):
        return tuple(
            each * (factor if pair >= from_pair else 1.0) for pair, each in enumerate(seconds)
        )

    return replace(
        samples,
        first_seconds=late(samples.first_seconds, first),
        second_seconds=late(samples.second_seconds, second),
    )


@pytest.mark.parametrize("sigma", [0.002, 0.02, 0.1])
def test_noise_is_no_break(make, sigma):
    for seed in range(30):
        assert disturbed([make.drawn(1.1, sigma=sigma, seed=seed)]) is None


@pytest.mark.parametrize("at", [12, 30, 48])
def test_a_clock_drop_that_hits_both_sides_is_told_and_harms_nothing(make, at):
    given = slowed(make.drawn(1.1, sigma=0.005), from_pair=at, first=1.25, second=1.25)
    found = find_break(given)
    assert abs(found.pair - at) <= 2
    assert found.level == pytest.approx(1.25, rel=0.01)
    assert not found.moves_ratio
    assert disturbed([given]) is None
    assert f"from pair {found.pair} on, both sides take 1.25 times as long" in remarks([given])[0]


def test_a_drop_that_hits_one_side_more_decides_nothing(make):
    given = slowed(make.drawn(1.1, sigma=0.005), from_pair=40, first=1.35, second=1.2)
    verdict = disturbed([make.drawn(1.1), given])
    assert verdict.outcome is Outcome.UNDECIDED
    assert "from pair 4" in verdict.message
    assert "not one measurement" in verdict.message
    assert "hit differently" in remarks([given])[0]


def test_a_shift_within_the_noise_is_not_held_against_the_run(make):
    given = slowed(make.drawn(1.1, sigma=0.1, seed=4), from_pair=30, first=1.43, second=1.4)
    assert disturbed([given]) is None


@pytest.mark.parametrize(
    "reason", ["hardware slowdown", "software thermal slowdown", "hardware power brake"]
)
def test_a_card_that_protects_itself_is_unfit(make, reason):
    given = make.drawn(1.1, conditions=Conditions((1980, 1200), (60, 90), (reason,)))
    verdict = disturbed([given])
    assert (verdict.outcome, verdict.void_reason) == (
        Outcome.VOID,
        VoidReason.DEVICE_UNHEALTHY,
    )
    assert reason in verdict.message


def test_a_power_cap_is_a_busy_cards_ordinary_life(make):
    given = make.drawn(1.1, conditions=Conditions((1980, 1725), (42, 51), ("software power cap",)))
    assert disturbed([given]) is None
    assert remarks([given]) == ["bench-gpu[0]: the clock fell from 1980 to 1725 MHz"]


def test_a_rising_clock_is_no_fall():
    assert fallen_clock(Conditions(sm_clock_mhz=(345, 1980, 1965))) == ""
    assert fallen_clock(Conditions()) == ""


def test_short_runs_cannot_tell(make):
    given = make.samples([1.0] * 5 + [2.0] * 5, [1.0] * 10)
    assert find_break(given) is None


def test_the_place_is_found_without_noise_too(make):
    first = np.where(np.arange(40) < 13, 1e-3, 1.2e-3)
    assert find_break(make.samples(first, first)).pair == 13
