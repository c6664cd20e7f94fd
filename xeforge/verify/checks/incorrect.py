"""Refuse values outside the tolerance of the spec.

With huge inputs a few sums happen to cancel, and what is left of them is rounding of terms that
were as large as the largest answer. Those few are not held against a kernel as long as they are off
by no more than sums kept in float32 may be.
"""

from math import isfinite
from math import prod
from math import sqrt

from xeforge.domain.case import Case
from xeforge.domain.case import Fill
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import Finding
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_wrong
from xeforge.verify.tolerance import accumulation_eps
from xeforge.verify.tolerance import reduction_length

NAME = "incorrect"
_FEW = 1 / 200
"""Part of the elements that may happen to cancel."""


def check(context: CheckContext) -> Finding:
    """Count elements further from the oracle than ``atol + rtol * |expected|``, NaN included."""
    wrong = [
        (case, output)
        for case in context.shown()
        for output in case.outputs
        if output.wrong_count
        and not output.unwritten_count
        and not _cancels(case, output, context.planned(case))
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


def _cancels(case: CaseEvidence, output: OutputEvidence, planned: Case | None) -> bool:
    """Say whether what is wrong is a few cancelled sums of huge terms, right to their rounding.

    The bound is the one of `tolerance.error_bound` on a sum, for terms as large as the answers.
    """
    if case.fill != Fill.LARGE or output.nan_count != output.expected_nan_count:
        return False
    is_few = output.wrong_count <= _FEW * prod(output.shape)
    bound = accumulation_eps(planned) * sqrt(reduction_length(planned)) * output.scale
    return is_few and isfinite(output.max_abs_error) and output.max_abs_error <= bound
