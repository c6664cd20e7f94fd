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
        history = append(history, step.id, perform(history, step, parts), parts)
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
    return until_judged(with_given(history, source, parts), parts, observe)


def with_given(history: History, source: str, parts: Parts) -> History:
    """Return an audited history with `source` as its only candidate, `GIVEN_ID`.

    One audit serves any number of sources: each is judged as if it were alone.
    """
    given = Candidate(GIVEN_ID, BASELINE_ID, "", "user", source, "as given", {})
    return append(history, "given", Proposed("", "user", 0, (given,)), parts)


def until_judged(history: History, parts: Parts, observe: Callable[[History], None]) -> History:
    """Do whatever candidate `GIVEN_ID` still needs until it has a verdict.

    Raises:
        PlatformError: Our own fault.
    """
    given = history.candidate(GIVEN_ID)
    while history.trial(GIVEN_ID) is None:
        step: Step = next_of(history, given)
        history = append(history, step.id, perform(history, step, parts), parts)
        observe(history)
    return history


def is_wrong(history: History) -> bool:
    """Say whether the audit found the submitted kernel wrong."""
    audited = history.audited
    return audited is not None and any(issue.severity is Severity.ERROR for issue in audited.issues)


def append(history: History, step: str, event: Event, parts: Parts) -> History:
    """Return the history with one more fact."""
    record = Recorded(len(history.records), step, parts.clock.now_seconds(), event)
    return History(history.job, history.problem, (*history.records, record))
