"""The one place that says stop."""

from xeforge.domain.history import History
from xeforge.domain.verdict import Outcome


def exhausted(history: History) -> str:
    """Say which budget is used up, or return an empty string.

    Void trials are free; the audit and the confirmation are never refused. Tokens and money will
    be counted here too, once something spends them.
    """
    problem = history.problem
    judged = sum(1 for trial in history.trials() if trial.verdict.outcome is not Outcome.VOID)
    if problem.budget_trials is not None and judged >= problem.budget_trials:
        return f"the budget of {problem.budget_trials} trials is used up"
    elapsed_seconds = history.elapsed_seconds()
    if problem.budget_seconds is not None and elapsed_seconds >= problem.budget_seconds:
        return f"the budget of {problem.budget_seconds:g} seconds is used up"
    return ""


def remaining_trials(history: History) -> int | None:
    """Return how many more candidates may be judged, those under way counted; None: no limit."""
    limit = history.problem.budget_trials
    if limit is None:
        return None
    under_way = len(history.unjudged())
    judged = sum(1 for trial in history.trials() if trial.verdict.outcome is not Outcome.VOID)
    return max(0, limit - judged - under_way)
