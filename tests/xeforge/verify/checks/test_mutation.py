"""Inputs stay as they were."""

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import mutation

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def test_changed_inputs_are_refused(make):
    found = mutation.check(seen(make, mutated_inputs=("X", "G")))
    assert found.reason == Reason.INPUT_MUTATION
    assert "changes its inputs X, G" in found.message
