"""Has enough been checked? A candidate is never accepted on cases that did not run."""

from xeforge.domain.evidence import CaseStatus
from xeforge.verify.context import CheckContext
from xeforge.verify.inputs import base_keys
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import is_base
from xeforge.verify.places import describe_case


def oracle_failure(context: CheckContext) -> str:
    """Return how the oracle failed on inputs of a kind it took before; empty: it did not."""
    for case in context.cases():
        if case.status is CaseStatus.REFERENCE_RAISED and is_base(case.kind):
            return f"{describe_case(case)}: the reference raised: {case.message}"
    return ""


def unverified(context: CheckContext) -> str:
    """Return what was not checked although the claim needs it; empty: all was.

    Needed are the cases that stand for the timed workloads, and one checked output of each
    workload's timed calls.
    """
    keys = base_keys(context.problem, interpreted=context.audit.interpreted)
    for workload in context.problem.timed:
        complaint = _complaint(keys[workload.name], context)
        if complaint:
            return f"{workload.name} was not checked: {complaint}"
    blind = [each.workload for each in context.samples if not each.outputs_checked]
    return f"no timed output was checked on {', '.join(blind)}" if blind else ""


def _complaint(key: str, context: CheckContext) -> str:
    if key not in context.trusted:
        return "the submitted kernel could not be shown to be right there"
    draws = [each for each in context.cases() if case_key(each.case) == key]
    if not draws:
        return f"{key} was not run"
    unchecked = (each for each in draws if each.status is CaseStatus.UNCHECKED)
    return next((each.message or each.status for each in unchecked), "")
