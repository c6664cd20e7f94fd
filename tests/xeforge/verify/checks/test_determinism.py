"""The same call gives the same bits."""

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import determinism

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def audited(make, *outputs, **changes):
    return make.evidence(make.ran("bench-gpu[0]/declared/random/M=64,N=48#1", *outputs, **changes))


def test_new_run_to_run_differences_are_refused(make):
    found = determinism.check(seen(make, differs_between_runs=True))
    assert found.reason == Reason.NONDETERMINISTIC
    reference = seen(make, differs_between_runs=True, reference_differs_between_runs=True)
    assert determinism.check(reference).passed
    audit = audited(make, differs_between_runs=True)
    assert determinism.check(seen(make, differs_between_runs=True, audit=audit)).passed
