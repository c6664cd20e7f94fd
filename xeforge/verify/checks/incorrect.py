"""Refuse values outside the tolerance of the spec."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_wrong

NAME = "incorrect"


def check(context: CheckContext) -> Finding:
    """Count elements further from the oracle than ``atol + rtol * |expected|``, NaN included."""
    wrong = [
        (case, output)
        for case in context.shown()
        for output in case.outputs
        if output.wrong_count and not output.unwritten_count
    ]
    if not wrong:
        return passed(NAME)
    case, output = wrong[0]
    others = len({each.case for each, _ in wrong}) - 1
    more = f" (and on {others} more cases)" if others else ""
    return failed(
        NAME,
        Reason.INCORRECT_OUTPUT,
        f"{describe_case(case)}: {describe_wrong(output, context.build)}; largest error "
        f"{output.max_abs_error:.3g} at scale {output.scale:.3g}{more}",
        numbers={"wrong": output.wrong_count, "max_abs_error": output.max_abs_error},
    )
