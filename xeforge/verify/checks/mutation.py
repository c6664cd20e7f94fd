"""Refuse a candidate that changes its inputs although the reference leaves them alone."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case

NAME = "mutation"


def check(context: CheckContext) -> Finding:
    """Report the first case whose inputs had other values after the call."""
    for case in context.cases():
        if case.mutated_inputs:
            names = ", ".join(case.mutated_inputs)
            text = f"{describe_case(case)}: changes its inputs {names}"
            return failed(NAME, Reason.INPUT_MUTATION, text)
    return passed(NAME)
