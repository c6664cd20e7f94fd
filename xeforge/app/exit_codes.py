"""What the exit code of every command means; documented in the README."""

from enum import IntEnum

from xeforge.domain.events import JobOutcome
from xeforge.domain.history import History
from xeforge.domain.verdict import Grade


class ExitCode(IntEnum):
    """Exit codes of all commands."""

    FASTER = 0
    """A faster kernel was measured; for other commands: done, nothing to complain about."""
    BAD_INPUT = 2
    """The request cannot be served as it stands; the message names place and remedy."""
    NOTHING_BETTER = 3
    """No candidate beat the submitted kernel."""
    BASELINE_WRONG = 4
    """The submitted kernel is wrong."""
    PLATFORM_FAULT = 5
    """This machine could not do the work, or has no sandbox and was not told to go without."""
    FASTER_BY_ESTIMATE = 6
    """A faster kernel by the cost model only; nothing was timed."""
    INTERRUPTED = 130
    """Stopped by the user; what is known is kept and can be resumed."""


_BY_OUTCOME = {
    JobOutcome.UNCHANGED: ExitCode.NOTHING_BETTER,
    JobOutcome.BASELINE_WRONG: ExitCode.BASELINE_WRONG,
    JobOutcome.REFUSED: ExitCode.BAD_INPUT,
    JobOutcome.PLATFORM_FAULT: ExitCode.PLATFORM_FAULT,
}


def exit_code(history: History) -> ExitCode:
    """Return the code for a job; an unfinished one was interrupted."""
    finished = history.finished
    if finished is None:
        return ExitCode.INTERRUPTED
    if finished.outcome is not JobOutcome.IMPROVED or finished.winner is None:
        return _BY_OUTCOME[finished.outcome]
    confirmed = history.confirmation(finished.winner)
    is_measured = confirmed is not None and confirmed.trial.verdict.grade is Grade.MEASURED
    return ExitCode.FASTER if is_measured else ExitCode.FASTER_BY_ESTIMATE
