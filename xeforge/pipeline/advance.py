"""Performs one step through the ports and appends one event."""

from xeforge.domain.events import Event
from xeforge.domain.events import Finished
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Voided
from xeforge.domain.history import History
from xeforge.domain.steps import Audit
from xeforge.domain.steps import Describe
from xeforge.domain.steps import Step
from xeforge.domain.verdict import VoidReason
from xeforge.errors import DeviceLost
from xeforge.errors import LeaseLost
from xeforge.errors import OracleFailed
from xeforge.errors import PlatformError
from xeforge.errors import StoreConflict
from xeforge.errors import ToolchainMissing
from xeforge.errors import UserError
from xeforge.pipeline.engine import attempt_id
from xeforge.pipeline.parts import Parts
from xeforge.pipeline.perform import perform

LEASE_SECONDS = 1800.0
"""Longer than any step's own deadline; a worker that dies gives its lease back sooner."""

_VOID_REASONS: tuple[tuple[type[PlatformError], VoidReason], ...] = (
    (DeviceLost, VoidReason.DEVICE_LOST),
    (ToolchainMissing, VoidReason.TOOLCHAIN_MISSING),
    (OracleFailed, VoidReason.ORACLE_FAILED),
    (PlatformError, VoidReason.OUT_OF_HOST_RESOURCES),
)


def advance(history: History, step: Step, parts: Parts, *, worker: str) -> History:
    """Perform a step and record what came of it.

    Idempotent in effect: the step's id is recorded at most once, so a repeated step changes
    nothing and is refused.

    Raises:
        LeaseLost: Another worker has the step.
        StoreConflict: The step is already recorded.
    """
    attempt = parts.store.lease(
        history.job, attempt_id(history, step), worker=worker, seconds=LEASE_SECONDS
    )
    try:
        event = _outcome(history, step, parts)
        return parts.store.record(attempt, event)
    except BaseException:
        parts.store.release(attempt)
        raise


def _outcome(history: History, step: Step, parts: Parts) -> Event:
    """Perform a step; turn faults into the events that stand for them."""
    try:
        return perform(history, step, parts)
    except UserError as error:
        return Finished(JobOutcome.REFUSED, None, str(error))
    except (LeaseLost, StoreConflict):
        raise
    except OracleFailed as error:
        if isinstance(step, Describe | Audit):
            return Finished(JobOutcome.REFUSED, None, str(error))
        return _voided(step, error)
    except PlatformError as error:
        return _voided(step, error)


def _voided(step: Step, error: PlatformError) -> Voided:
    """Name the platform's fault."""
    reason = next(reason for kind, reason in _VOID_REASONS if isinstance(error, kind))
    return Voided(step.id, reason, error.message, error.remedy or "")
