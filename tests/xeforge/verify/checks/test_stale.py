"""Answers do not change afterwards."""

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import stale

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def audited(make, *outputs, **changes):
    return make.evidence(make.ran("bench-gpu[0]/declared/random/M=64,N=48#1", *outputs, **changes))


def test_answers_that_change_later_are_refused(make):
    found = stale.check(seen(make, stale_outputs=True))
    assert found.reason == Reason.STALE_OR_REUSED_RESULT
    audit = audited(make, stale_outputs=True)
    assert stale.check(seen(make, stale_outputs=True, audit=audit)).passed
