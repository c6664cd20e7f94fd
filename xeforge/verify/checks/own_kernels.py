"""Refuse answers that a library computed instead of a kernel of the file."""

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed

NAME = "own_kernels"


def check(context: CheckContext) -> Finding:
    """Ask for at least one launch and for no tensor operator that the baseline does not call."""
    evidence = context.evidence
    has_run = any(each.status is CaseStatus.RAN for each in evidence.cases)
    if has_run and not evidence.launches:
        return failed(NAME, Reason.NO_CUSTOM_KERNEL, "no Triton kernel was launched")
    new = sorted(set(evidence.library_calls) - set(context.audit.library_calls))
    if new:
        names = ", ".join(new)
        return failed(NAME, Reason.NO_CUSTOM_KERNEL, f"computes outside its kernels: {names}")
    return passed(NAME, f"{len(evidence.launches)} launches a call")
