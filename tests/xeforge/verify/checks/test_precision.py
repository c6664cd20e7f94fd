"""Accuracy lost within the tolerance is lost all the same."""

from math import inf
from math import nan

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import precision

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, case=BASE, **changes):
    return make.context(evidence=make.evidence(make.ran(case, *outputs, **changes)))


def test_lost_accuracy_is_refused_within_tolerance(make):
    found = precision.check(seen(make, make.output(error=0.01)))
    assert found.reason == Reason.PRECISION_DOWNGRADE
    assert found.numbers["error"] == 0.01
    assert found.numbers["bound"] < 0.01
    assert precision.check(seen(make, make.output(error=4e-4))).passed


def test_worst_loss_is_told(make):
    given = make.evidence(
        make.ran(BASE, make.output(error=0.01)), make.ran(BASE + "1", make.output(error=0.02))
    )
    assert precision.check(make.context(evidence=given)).numbers["error"] == 0.02
    turned = make.evidence(*reversed(given.cases))
    assert precision.check(make.context(evidence=turned)).numbers["error"] == 0.02


def test_loss_that_the_submitted_kernel_has_too_is_allowed(make):
    audit = make.evidence(make.ran(outputs=(make.output(error=0.01),)))
    given = make.evidence(make.ran(BASE, make.output(error=0.011)))
    assert precision.check(make.context(audit=audit, evidence=given)).passed


def test_errors_that_are_no_number_say_nothing(make):
    assert precision.check(seen(make, make.output(error=nan))).passed
    assert precision.check(seen(make, make.output(reference_error=None, error=9.0))).passed
    assert not precision.check(seen(make, make.output(error=inf))).passed
