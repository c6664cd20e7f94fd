"""Elements nobody wrote are found by their poison."""

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import incorrect
from xeforge.verify.checks import shape_overfit
from xeforge.verify.checks import unwritten

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, case=BASE, **changes):
    return make.context(evidence=make.evidence(make.ran(case, *outputs, **changes)))


def test_unwritten_elements_are_not_called_wrong(make):
    holes = make.output(unwritten_count=7, wrong_count=7, first_wrong=(0, 1), first_expected=1.0)
    context = seen(make, holes)
    assert incorrect.check(context).passed
    found = unwritten.check(context)
    assert found.reason == Reason.INCORRECT_OUTPUT
    assert "7 elements are never written; element [0, 1] is unknown, expected 1" in found.message


def test_unwritten_on_ragged_shapes_only_is_overfitting(make):
    context = make.ragged_context(ragged=make.output(unwritten_count=2, wrong_count=2))
    assert unwritten.check(context).passed
    assert shape_overfit.check(context).reason == Reason.SHAPE_OVERFIT
