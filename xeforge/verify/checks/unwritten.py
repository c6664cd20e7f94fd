"""Refuse an answer of which some elements were never written."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_wrong

NAME = "unwritten"


def check(context: CheckContext) -> Finding:
    """Look for elements that follow the poison put into fresh memory."""
    for case in context.shown():
        for output in case.outputs:
            if output.unwritten_count:
                text = describe_wrong(output, context.build)
                return failed(
                    NAME,
                    Reason.INCORRECT_OUTPUT,
                    f"{describe_case(case)}: {output.unwritten_count:,} elements are never "
                    f"written; {text}",
                    numbers={"unwritten": output.unwritten_count},
                )
    return passed(NAME)
