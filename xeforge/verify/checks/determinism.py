"""Refuse run-to-run differences that neither reference nor baseline have."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case

NAME = "determinism"


def check(context: CheckContext) -> Finding:
    """Report the first case on which the same call gave different bits twice."""
    baseline_differs = any(each.differs_between_runs for each in context.audit.cases)
    for case in context.cases():
        is_new = not (case.reference_differs_between_runs or baseline_differs)
        if case.differs_between_runs and is_new:
            text = f"{describe_case(case)}: two calls on the same inputs gave different bits"
            return failed(NAME, Reason.NONDETERMINISTIC, text)
    return passed(NAME)
