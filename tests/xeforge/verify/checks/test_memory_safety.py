"""Accesses outside a tensor are refused wherever they happen."""

from xeforge.domain.evidence import MemoryFault
from xeforge.domain.verdict import Reason
from xeforge.verify.checks import memory_safety

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def test_accesses_beyond_a_tensor_are_told(make):
    fault = MemoryFault("write", "scale_kernel", 9, "y_ptr", (24, 0, 0), 6144)
    found = memory_safety.check(seen(make, memory_faults=(fault,)))
    assert (found.reason, found.line) == (Reason.MEMORY_SAFETY, 9)
    assert (
        "out-of-bounds write of y_ptr in scale_kernel: byte 6,144 from its start, program "
        "(24, 0, 0)" in found.message
    )
    assert memory_safety.check(seen(make)).passed
