"""What is right when checked is right when timed."""

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import timed_outputs

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
    [
        ("TypeError: x", Reason.RUNTIME_ERROR),
        ("illegal memory access", Reason.MEMORY_SAFETY),
        ("computes outside its kernels only while timed: aten.mm", Reason.PHASE_DEPENDENT),
    ],
)
def test_failing_while_timed_is_told(make, words, reason):
    found = timed_outputs.check(make.context(evidence=make.evidence(timing_failure=words)))
    assert found.reason == reason
    assert found.message == f"while timed: {words}"
