"""Refuse reads and writes outside the tensors that were handed over."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_fault
from xeforge.verify.places import listed

NAME = "memory_safety"


def check(context: CheckContext) -> Finding:
    """Report accesses beyond a tensor on any case that counts, ragged ones included."""
    found = [(case, fault) for case in context.cases() for fault in case.memory_faults]
    if not found:
        return passed(NAME)
    texts = listed(f"{describe_case(case)}: {describe_fault(fault)}" for case, fault in found)
    return failed(NAME, Reason.MEMORY_SAFETY, texts, line=found[0][1].line)
