"""Refuse a candidate that is right when checked and wrong when timed."""

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.checks.ran import reason_in_words
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed_timed

NAME = "timed_outputs"


def check(context: CheckContext) -> Finding:
    """Count wrong answers among the secretly checked outputs of timed calls."""
    if context.evidence.timing_failure:
        message = context.evidence.timing_failure
        reason = reason_in_words(message) or Reason.RUNTIME_ERROR
        return failed(NAME, reason, f"while timed: {message}")
    for each in context.samples:
        if each.outputs_wrong:
            return failed(
                NAME,
                Reason.PHASE_DEPENDENT,
                f"{each.workload}: {each.outputs_wrong} of {each.outputs_checked} outputs of "
                "timed calls are wrong although untimed ones are right",
                numbers={"wrong": each.outputs_wrong, "checked": each.outputs_checked},
            )
    return passed_timed(context, NAME)
