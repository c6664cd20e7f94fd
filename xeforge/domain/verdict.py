"""Accepted, rejected, undecided or void; whose fault; measured or only estimated."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a trial."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    VOID = "void"


class Grade(StrEnum):
    """How a speed claim was obtained; an estimate is never shown as a measurement."""

    MEASURED = "measured"
    ESTIMATED = "estimated"


class Speed(StrEnum):
    """How a correct candidate compares with its baseline, beyond the noise floor."""

    FASTER = "FASTER"
    SAME = "SAME"
    SLOWER = "SLOWER"
    UNDECIDED = "UNDECIDED"


class Reason(StrEnum):
    """Why a candidate was rejected: one closed set, used alike everywhere."""

    STALE_OR_REUSED_RESULT = "STALE_OR_REUSED_RESULT"
    WORK_OUTSIDE_TIMED_REGION = "WORK_OUTSIDE_TIMED_REGION"
    PHASE_DEPENDENT = "PHASE_DEPENDENT"
    INCORRECT_OUTPUT = "INCORRECT_OUTPUT"
    OUTPUT_CONTRACT = "OUTPUT_CONTRACT"
    OUTPUT_ALIASING = "OUTPUT_ALIASING"
    INPUT_MUTATION = "INPUT_MUTATION"
    PRECISION_DOWNGRADE = "PRECISION_DOWNGRADE"
    NONDETERMINISTIC = "NONDETERMINISTIC"
    MEMORY_SAFETY = "MEMORY_SAFETY"
    GPU_FAULT = "GPU_FAULT"
    NO_CUSTOM_KERNEL = "NO_CUSTOM_KERNEL"
    INFORMATION_LEAK = "INFORMATION_LEAK"
    HARNESS_TAMPERING = "HARNESS_TAMPERING"
    SANDBOX_VIOLATION = "SANDBOX_VIOLATION"
    POLICY_VIOLATION = "POLICY_VIOLATION"
    RESOURCE_LIMIT = "RESOURCE_LIMIT"
    TIMEOUT = "TIMEOUT"
    COMPILE_BUDGET = "COMPILE_BUDGET"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    NO_RESULT = "NO_RESULT"
    IMPLAUSIBLE_SPEEDUP = "IMPLAUSIBLE_SPEEDUP"
    NO_SPEEDUP = "NO_SPEEDUP"
    SHAPE_OVERFIT = "SHAPE_OVERFIT"


class VoidReason(StrEnum):
    """Why a trial does not count: the platform's fault, costs no attempt."""

    DEVICE_LOST = "DEVICE_LOST"
    DEVICE_UNHEALTHY = "DEVICE_UNHEALTHY"
    LEASE_LOST = "LEASE_LOST"
    OUT_OF_HOST_RESOURCES = "OUT_OF_HOST_RESOURCES"
    TOOLCHAIN_MISSING = "TOOLCHAIN_MISSING"
    ORACLE_FAILED = "ORACLE_FAILED"


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio with its 95 % interval: baseline time over candidate time, above 1 is faster."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one candidate.

    Attributes:
        outcome: The decision.
        reason: Set exactly when rejected.
        void_reason: Set exactly when void.
        grade: Set exactly when a speed was compared: accepted, or rejected as NO_SPEEDUP.
        speed: Comparison with the incumbent, when the candidate was correct and compared.
        message: One sentence with numbers and places.
    """

    outcome: Outcome
    message: str
    reason: Reason | None = None
    void_reason: VoidReason | None = None
    grade: Grade | None = None
    speed: Speed | None = None

    def __post_init__(self) -> None:
        if (self.reason is not None) != (self.outcome is Outcome.REJECTED):
            raise ValueError("a reason is given exactly when the outcome is rejected")
        if (self.void_reason is not None) != (self.outcome is Outcome.VOID):
            raise ValueError("a void reason is given exactly when the outcome is void")
        if self.outcome is Outcome.ACCEPTED and self.grade is None:
            raise ValueError("an accepted candidate says whether it was measured or estimated")


def rejected(reason: Reason, message: str) -> Verdict:
    """Build a rejection."""
    return Verdict(Outcome.REJECTED, message, reason=reason)


def void(reason: VoidReason, message: str) -> Verdict:
    """Build a verdict that costs the candidate nothing."""
    return Verdict(Outcome.VOID, message, void_reason=reason)
