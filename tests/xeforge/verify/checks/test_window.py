"""Time saved on the device is saved on the host."""

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import window

CONTROL = ([1.0] * 10, [1.0] * 10)


def timed(make, first, second, workload=None, **changes):
    given = make.samples([first] * 9, [second] * 9, CONTROL, **changes)
    asked = make.problem(workload) if workload else make.problem()
    return make.context(problem=asked, samples=(given,))


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
