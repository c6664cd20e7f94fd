"""Weights of the reference fit."""

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import state


def test_other_parameters_are_refused(make):
    given = make.evidence(state_mismatch="missing: bias")
    found = state.check(make.context(evidence=given))
    assert found.reason == Reason.OUTPUT_CONTRACT
    assert "missing: bias" in found.message
    assert state.check(make.context(evidence=given, audit=given)).passed
