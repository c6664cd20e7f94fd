"""Refuse answers that change afterwards: memory handed out twice, or a remembered result."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case

NAME = "stale"


def check(context: CheckContext) -> Finding:
    """Report the first case whose earlier output changed with the next call."""
    for case in context.cases():
        baseline = context.baseline_case(case)
        if case.stale_outputs and not (baseline and baseline.stale_outputs):
            text = f"{describe_case(case)}: an earlier output changed when called again"
            return failed(NAME, Reason.STALE_OR_REUSED_RESULT, text)
    return passed(NAME)
