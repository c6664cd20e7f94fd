"""Refuse answers within tolerance that have lost accuracy against float64.

Cases with huge inputs are left to the tolerance: what they leave of a 16-bit output are the few
elements that happen to cancel, and their relative error says nothing about the arithmetic.
"""

from math import isnan

from xeforge.domain.case import Fill
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.tolerance import error_bound

NAME = "precision"


def check(context: CheckContext) -> Finding:
    """Compare the error of each output with the bound of `tolerance`; report the worst."""
    worst: tuple[float, Finding] | None = None
    for case, output in context.outputs():
        if case.fill == Fill.LARGE:
            continue
        baseline = context.baseline_output(case, output.index)
        bound = error_bound(output, context.planned(case), baseline)
        if bound is None or isnan(output.error) or output.error <= bound or bound == 0:
            continue
        share = output.error / bound
        if worst is None or share > worst[0]:
            text = (
                f"{describe_case(case)}: relative error against float64 is {output.error:.3g}, "
                f"allowed {bound:.3g}; the reference's own is {output.reference_error:.3g}"
            )
            numbers = {"error": output.error, "bound": bound}
            worst = share, failed(NAME, Reason.PRECISION_DOWNGRADE, text, numbers=numbers)
    return worst[1] if worst else passed(NAME)
