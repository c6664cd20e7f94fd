"""Timed outputs, the timed window, and what is physically possible."""

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import plausible
from xeforge.verify.checks import timed_outputs
from xeforge.verify.checks import window

CONTROL = ([1.0] * 10, [1.0] * 10)


def timed(make, first, second, workload=None, **changes):
    given = make.samples([first] * 9, [second] * 9, CONTROL, **changes)
    asked = make.problem(workload) if workload else make.problem()
    return make.context(problem=asked, samples=(given,))


def test_wrong_timed_outputs_are_phase_dependent(make):
    found = timed_outputs.check(timed(make, 1e-3, 1e-3, outputs_wrong=2))
    assert found.reason == Reason.PHASE_DEPENDENT
    assert "2 of 3 outputs of timed calls are wrong" in found.message
    assert timed_outputs.check(timed(make, 1e-3, 1e-3)).passed


@pytest.mark.parametrize(
    ("words", "reason"),
    [("TypeError: x", Reason.RUNTIME_ERROR), ("illegal memory access", Reason.MEMORY_SAFETY)],
)
def test_failing_while_timed_is_told(make, words, reason):
    found = timed_outputs.check(make.context(evidence=make.evidence(timing_failure=words)))
    assert found.reason == reason
    assert found.message == f"while timed: {words}"


def test_time_saved_on_the_device_only_is_work_elsewhere(make):
    hidden = {"first_host_seconds": (1.02e-3,) * 9, "second_host_seconds": (1.02e-3,) * 9}
    found = window.check(timed(make, 1e-3, 0.3e-3, **hidden))
    assert found.reason == Reason.WORK_OUTSIDE_TIMED_REGION
    assert "700 us less than the incumbent, the host's clock only 0 us" in found.message


def test_honest_savings_show_on_both_clocks(make):
    assert window.check(timed(make, 1e-3, 0.3e-3)).passed
    slow_host = {"first_host_seconds": (1.02e-3,) * 9, "second_host_seconds": (0.4e-3,) * 9}
    assert window.check(timed(make, 1e-3, 0.3e-3, **slow_host)).passed
    noise = {"first_host_seconds": (60e-6,) * 9, "second_host_seconds": (70e-6,) * 9}
    assert window.check(timed(make, 50e-6, 20e-6, **noise)).passed
    unknown = {"first_host_seconds": (), "second_host_seconds": ()}
    assert window.check(timed(make, 50e-6, 20e-6, **unknown)).passed
    assert window.check(make.context()).passed


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
