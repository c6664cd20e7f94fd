"""The work is done by kernels of the file."""

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.verdict import Reason
from xeforge.verify.checks import own_kernels

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def test_library_work_is_refused(make):
    none = own_kernels.check(make.context(evidence=make.evidence(launches=())))
    assert none.reason == Reason.NO_CUSTOM_KERNEL
    assert none.message == "no Triton kernel was launched"
    calls = make.evidence(library_calls=("aten.mm", "aten.relu"))
    found = own_kernels.check(make.context(evidence=calls))
    assert found.message == "computes outside its kernels: aten.mm, aten.relu"
    assert own_kernels.check(make.context(evidence=calls, audit=calls)).passed


def test_candidate_that_never_ran_is_not_accused_of_having_no_kernel(make):
    raised = make.evidence(make.ran(BASE, status=CaseStatus.RAISED), launches=())
    assert own_kernels.check(make.context(evidence=raised)).passed
    assert own_kernels.check(make.context(evidence=None)).passed
