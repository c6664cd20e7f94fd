"""Answers are not views of the question."""

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.verdict import Reason
from xeforge.verify.checks import aliasing

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def audited(make, *outputs, **changes):
    return make.evidence(make.ran("bench-gpu[0]/declared/random/M=64,N=48#1", *outputs, **changes))


def test_views_of_inputs_are_refused_unless_the_baseline_gives_them(make):
    assert aliasing.check(seen(make, aliased_outputs=(0,))).reason == Reason.OUTPUT_ALIASING
    audit = audited(make, aliased_outputs=(0,))
    assert aliasing.check(seen(make, aliased_outputs=(0,), audit=audit)).passed
    untold = make.context(
        evidence=make.evidence(make.ran(BASE, aliased_outputs=(1,))),
        audit=make.evidence(make.ran(BASE, status=CaseStatus.RAISED)),
    )
    assert aliasing.check(untold).reason == Reason.OUTPUT_ALIASING
