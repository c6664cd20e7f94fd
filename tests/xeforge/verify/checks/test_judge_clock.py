"""Time saved by a child's word is saved on the judge's own clock."""

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import judge_clock

CONTROL = ([1.0] * 10, [1.0] * 10)


def judged(make, reported, seen):
    """Give medians of (baseline, candidate): what the children report, what the judge sees."""
    changes = {"first_judge_seconds": (seen[0],) * 5, "second_judge_seconds": (seen[1],) * 5}
    given = make.samples([reported[0]] * 9, [reported[1]] * 9, CONTROL, **changes)
    return judge_clock.check(make.context(samples=(given,)))


def test_a_clock_that_lies_is_found_out(make):
    found = judged(make, (1e-3, 0.5e-3), (1.05e-3, 1.05e-3))
    assert found.reason == Reason.WORK_OUTSIDE_TIMED_REGION
    assert "500 us saved by the child's clock" in found.message
    assert "500 us longer by the judge's clock" in found.message
    assert found.numbers["excess_seconds"] == pytest.approx(0.5e-3)


@pytest.mark.parametrize(
    ("reported", "seen"),
    [
        ((1e-3, 0.5e-3), (1.05e-3, 0.55e-3)),  # the device decides
        ((1e-3, 10e-6), (1.05e-3, 90e-6)),  # the host decides for the candidate
        ((30e-6, 15e-6), (60e-6, 95e-6)),  # the host decides for both; a wrapper costs more
        ((1e-3, 1.2e-3), (1.05e-3, 2e-3)),  # nothing is claimed
    ],
)
def test_honest_times_pass(make, reported, seen):
    assert judged(make, reported, seen).passed


def test_savings_too_small_to_see_are_named(make):
    found = judged(make, (30e-6, 15e-6), (60e-6, 95e-6))
    assert found.passed
    assert "too small a saving" in found.message
    assert "(15 us)" in found.message


def test_noise_of_the_judges_clock_widens_the_room(make):
    changes = {
        "first_judge_seconds": (1.0e-3, 1.6e-3, 1.3e-3, 1.0e-3, 1.6e-3),
        "second_judge_seconds": (1.0e-3, 1.6e-3, 1.3e-3, 1.0e-3, 1.6e-3),
    }
    given = make.samples([1e-3] * 9, [0.6e-3] * 9, CONTROL, **changes)
    assert judge_clock.check(make.context(samples=(given,))).passed


def test_nothing_taken_nothing_found(make):
    untimed = judge_clock.check(make.context())
    assert untimed.passed
    assert untimed.message == "not asked: nothing was timed"
    given = make.samples([1e-3] * 9, [0.5e-3] * 9, CONTROL)
    assert judge_clock.check(make.context(samples=(given,))).passed
