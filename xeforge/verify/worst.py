"""Orders reason classes: which of several findings decides."""

from collections.abc import Iterable

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason

WORST_FIRST = (
    Reason.SANDBOX_VIOLATION,
    Reason.HARNESS_TAMPERING,
    Reason.INFORMATION_LEAK,
    Reason.POLICY_VIOLATION,
    Reason.NO_CUSTOM_KERNEL,
    Reason.MEMORY_SAFETY,
    Reason.GPU_FAULT,
    Reason.STALE_OR_REUSED_RESULT,
    Reason.PHASE_DEPENDENT,
    Reason.WORK_OUTSIDE_TIMED_REGION,
    Reason.INPUT_MUTATION,
    Reason.OUTPUT_ALIASING,
    Reason.OUTPUT_CONTRACT,
    Reason.COMPILE_BUDGET,
    Reason.RESOURCE_LIMIT,
    Reason.TIMEOUT,
    Reason.RUNTIME_ERROR,
    Reason.NO_RESULT,
    Reason.INCORRECT_OUTPUT,
    Reason.SHAPE_OVERFIT,
    Reason.NONDETERMINISTIC,
    Reason.PRECISION_DOWNGRADE,
    Reason.IMPLAUSIBLE_SPEEDUP,
    Reason.NO_SPEEDUP,
)
"""Intent before accident, accident before weakness: what explains the others comes first."""


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with complaints first, the gravest of them in front."""
    return tuple(sorted(findings, key=_rank))


def _rank(finding: Finding) -> int:
    if finding.passed or finding.reason is None:
        return len(WORST_FIRST)
    return WORST_FIRST.index(Reason(finding.reason))
