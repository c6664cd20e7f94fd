"""How a run ended gives the reason."""

import pytest

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.verdict import Reason
from xeforge.verify.checks.ran import check

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def ended(make, status, message):
    return make.context(
        evidence=make.evidence(make.ran(BASE, status=status, message=message, line=9))
    )


def test_answers_pass(make):
    assert check(make.context()).passed


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (CaseStatus.RAISED, "ValueError: odd", Reason.RUNTIME_ERROR),
        (CaseStatus.RAISED, "OutOfResources: out of resource: shared", Reason.RESOURCE_LIMIT),
        (CaseStatus.RAISED, "CUDA out of memory", Reason.RESOURCE_LIMIT),
        (CaseStatus.RAISED, "an illegal memory access was encountered", Reason.MEMORY_SAFETY),
        (CaseStatus.RAISED, "device-side assert triggered", Reason.GPU_FAULT),
        (
            CaseStatus.RAISED,
            "CUDA error: out of memory; compile with TORCH_USE_CUDA_DSA for device-side assertions",
            Reason.RESOURCE_LIMIT,
        ),
        (CaseStatus.TIMED_OUT, "60 s", Reason.TIMEOUT),
        (CaseStatus.DIED, "exit code 3", Reason.NO_RESULT),
        (CaseStatus.DIED, "killed by SIGSEGV", Reason.MEMORY_SAFETY),
        (CaseStatus.DIED, "passed its memory limit", Reason.RESOURCE_LIMIT),
        (CaseStatus.DIED, "limit of 512 processes reached", Reason.RESOURCE_LIMIT),
        (CaseStatus.DIED, "disk limit of 8192 MiB reached", Reason.RESOURCE_LIMIT),
        (CaseStatus.DIED, "printed more than 16 MiB", Reason.RESOURCE_LIMIT),
        (CaseStatus.DIED, "made more than 50000 files", Reason.RESOURCE_LIMIT),
        (CaseStatus.DIED, "nested folders deeper than 64", Reason.RESOURCE_LIMIT),
        (CaseStatus.RAISED, "OSError: [Errno 27] File too large", Reason.RESOURCE_LIMIT),
        (CaseStatus.RAISED, "RuntimeError: can't start new thread", Reason.RESOURCE_LIMIT),
        (
            CaseStatus.RAISED,
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes",
            Reason.RESOURCE_LIMIT,
        ),
        (
            CaseStatus.RAISED,
            "BlockingIOError: [Errno 11] Resource temporarily unavailable",
            Reason.RESOURCE_LIMIT,
        ),
    ],
)
def test_endings_are_told_apart(make, status, message, reason):
    found = check(ended(make, status, message))
    assert found.reason == reason
    assert message in found.message
    assert found.line == 9
    assert "on bench-gpu[0]/declared/random/M=64,N=48" in found.message


def test_unchecked_and_untrusted_cases_say_nothing(make):
    assert check(ended(make, CaseStatus.UNCHECKED, "bf16")).passed
    raised = make.ran("ci[9]/declared/random/M=1#5", status=CaseStatus.RAISED)
    assert check(make.context(evidence=make.evidence(raised))).passed


def test_further_cases_are_counted(make):
    cases = [make.ran(f"{BASE}{n}", status=CaseStatus.RAISED, message="x") for n in range(3)]
    assert "(and on 2 more cases)" in check(make.context(evidence=make.evidence(*cases))).message
