"""Refuse a model whose parameters cannot be loaded from the reference's."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed

NAME = "state"


def check(context: CheckContext) -> Finding:
    """Compare names, shapes and formats of the ``state_dict``."""
    mismatch = context.evidence.state_mismatch
    if mismatch and mismatch != context.audit.state_mismatch:
        return failed(NAME, Reason.OUTPUT_CONTRACT, f"parameters differ: {mismatch}")
    return passed(NAME)
