"""Judges one given source against a submitted kernel, by the same steps as a job."""

from collections.abc import Callable

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Event
from xeforge.domain.events import Proposed
from xeforge.domain.events import Recorded
from xeforge.domain.history import History
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.domain.steps import Audit
from xeforge.domain.steps import Describe
from xeforge.domain.steps import Step
from xeforge.pipeline.engine import next_of
from xeforge.pipeline.parts import Parts
from xeforge.pipeline.perform import perform

GIVEN_ID = "t1"
"""Candidate id of the given source."""


def audit(problem: Problem, parts: Parts, observe: Callable[[History], None]) -> History:
    """Describe and audit a kernel; nothing is proposed.

    Raises:
        UserError: The user's files cannot be used.
        PlatformError: Our own fault.
    """
    history = History("audit", problem)
    for step in (Describe(), Audit()):
        history = _append(history, step.id, perform(history, step, parts), parts)
        observe(history)
    return history


def compare(
    problem: Problem, source: str, parts: Parts, observe: Callable[[History], None]
) -> History:
    """Audit the problem's kernel, then judge `source` against it.

    Returns:
        A history that holds the trial of candidate `GIVEN_ID`, unless the audit found the
        problem's kernel wrong.

    Raises:
        UserError: The user's files cannot be used.
        PlatformError: Our own fault.
    """
    history = audit(problem, parts, observe)
    if is_wrong(history):
        return history
    given = Candidate(GIVEN_ID, BASELINE_ID, "", "user", source, "as given", {})
    history = _append(history, "given", Proposed("", "user", 0, (given,)), parts)
    while history.trial(GIVEN_ID) is None:
        step: Step = next_of(history, given)
        history = _append(history, step.id, perform(history, step, parts), parts)
        observe(history)
    return history


def is_wrong(history: History) -> bool:
    """Say whether the audit found the submitted kernel wrong."""
    audited = history.audited
    return audited is not None and any(issue.severity is Severity.ERROR for issue in audited.issues)


def _append(history: History, step: str, event: Event, parts: Parts) -> History:
    record = Recorded(len(history.records), step, parts.clock.now_seconds(), event)
    return History(history.job, history.problem, (*history.records, record))
