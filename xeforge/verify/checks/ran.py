"""Refuse a candidate that raised, hung or died where the baseline answers."""

from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case

NAME = "ran"
ENDED_BADLY = (CaseStatus.RAISED, CaseStatus.TIMED_OUT, CaseStatus.DIED)
_REASONS: tuple[tuple[str, Reason], ...] = (
    ("out of memory", Reason.RESOURCE_LIMIT),
    ("illegal memory access", Reason.MEMORY_SAFETY),
    ("segmentation fault", Reason.MEMORY_SAFETY),
    ("sigsegv", Reason.MEMORY_SAFETY),
    ("sigbus", Reason.MEMORY_SAFETY),
    ("misaligned address", Reason.GPU_FAULT),
    ("device-side assert triggered", Reason.GPU_FAULT),
    ("unspecified launch failure", Reason.GPU_FAULT),
    ("out of resource", Reason.RESOURCE_LIMIT),
    ("outofresources", Reason.RESOURCE_LIMIT),
    ("memory limit", Reason.RESOURCE_LIMIT),
    ("memoryerror", Reason.RESOURCE_LIMIT),
    ("allocate memory", Reason.RESOURCE_LIMIT),
    ("not enough memory", Reason.RESOURCE_LIMIT),
    ("processes reached", Reason.RESOURCE_LIMIT),
    ("can't start new thread", Reason.RESOURCE_LIMIT),
    ("resource temporarily unavailable", Reason.RESOURCE_LIMIT),
    ("disk limit", Reason.RESOURCE_LIMIT),
    ("file too large", Reason.RESOURCE_LIMIT),
    ("too many open files", Reason.RESOURCE_LIMIT),
    ("printed more than", Reason.RESOURCE_LIMIT),
    ("only while timed", Reason.PHASE_DEPENDENT),
    ("made more than", Reason.RESOURCE_LIMIT),
    ("nested folders deeper", Reason.RESOURCE_LIMIT),
)
"""What drivers, Triton, the system and our sandbox call these; first match wins. Torch ends every
device error with advice on "device-side assertions", so words that it may add come last or are
spelt out."""


def check(context: CheckContext) -> Finding:
    """Report the first case that did not end with an answer; how it ended gives the reason."""
    bad = [each for each in context.shown() if each.status in ENDED_BADLY]
    if not bad:
        return passed(NAME)
    first = bad[0]
    more = f" (and on {len(bad) - 1} more cases)" if len(bad) > 1 else ""
    text = f"{describe_case(first)}: {first.status.replace('_', ' ')}: {first.message}{more}"
    return failed(NAME, ending_reason(first), text, line=first.line)


def ending_reason(case: CaseEvidence) -> Reason:
    """Return the class of a bad end."""
    if case.status is CaseStatus.TIMED_OUT:
        return Reason.TIMEOUT
    known = reason_in_words(case.message)
    if known is not None:
        return known
    return Reason.NO_RESULT if case.status is CaseStatus.DIED else Reason.RUNTIME_ERROR


def reason_in_words(message: str) -> Reason | None:
    """Return the class that a driver's, Triton's or the sandbox's words stand for, if any."""
    text = message.lower()
    return next((reason for words, reason in _REASONS if words in text), None)
