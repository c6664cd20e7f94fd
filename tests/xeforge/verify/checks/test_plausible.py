"""Nothing beats physics."""

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import plausible

CONTROL = ([1.0] * 10, [1.0] * 10)


def timed(make, first, second, workload=None, **changes):
    given = make.samples([first] * 9, [second] * 9, CONTROL, **changes)
    asked = make.problem(workload) if workload else make.problem()
    return make.context(problem=asked, samples=(given,))


def large(make, **changes):
    return make.workload(inputs=(make.tensor(shape=(16384, 16384)),), **changes)


def test_times_below_the_floor_of_the_bytes_are_impossible(make):
    moved = 16384 * 16384 * 2 - make.device.l2_bytes
    floor = moved / 4.8e12
    found = plausible.check(timed(make, 1e-3, 0.9 * floor, large(make)))
    assert found.reason == Reason.IMPLAUSIBLE_SPEEDUP
    assert found.numbers["floor_seconds"] == pytest.approx(floor, rel=1e-3)
    assert plausible.check(timed(make, 1e-3, 0.99 * floor, large(make))).passed


def test_floor_that_the_incumbent_beats_is_a_wrong_floor(make):
    found = plausible.check(timed(make, 1e-5, 0.9e-5, large(make, moved_bytes=1e12)))
    assert found.passed
    assert "the spec's traffic is too high" in found.message


def test_odd_but_possible_times_are_marked(make):
    found = plausible.check(timed(make, 1.0, 1e-3, large(make, flops=1e15)))
    assert found.passed
    assert "algebraic" in found.message
    assert "1000.0 times faster: marked for attention" in found.message
    quiet = plausible.check(timed(make, 2e-3, 1e-3, large(make, flops=1e9)))
    assert quiet.message == ""


def test_workload_that_nobody_knows_is_passed_over(make):
    given = make.samples([1.0] * 9, [1e-9] * 9, CONTROL, workload="gone[0]")
    assert plausible.check(make.context(samples=(given,))).passed
