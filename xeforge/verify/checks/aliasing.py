"""Refuse an answer that is a view of the question, unless baseline or reference answer so."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case

NAME = "aliasing"


def check(context: CheckContext) -> Finding:
    """Report outputs that share memory with an input where the baseline's do not."""
    for case in context.cases():
        baseline = context.baseline_case(case)
        known = set(baseline.aliased_outputs) if baseline else set[int]()
        new = [index for index in case.aliased_outputs if index not in known]
        if new:
            which = ", ".join(str(each) for each in new)
            text = f"{describe_case(case)}: outputs {which} share memory with an input"
            return failed(NAME, Reason.OUTPUT_ALIASING, text)
    return passed(NAME)
