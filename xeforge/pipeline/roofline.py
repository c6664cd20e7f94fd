"""Stop when the card can do no better."""

from collections.abc import Sequence

from xeforge.domain.history import History
from xeforge.domain.trial import WorkloadResult

NEAR_RATIO = 1.08
"""A time within this factor of the physical floor is not worth further search."""


def near_roofline(history: History) -> str:
    """Say how close the incumbent is to the floor when every workload is close; else nothing."""
    timed = _times(history)
    if not timed:
        return ""
    ratios = [_distance(seconds, floor) for seconds, floor in timed]
    worst = max(ratios)
    if worst > NEAR_RATIO:
        return ""
    if worst <= 1:
        return "the incumbent is at the ceiling that was measured on this device"
    return f"the incumbent is within {100 * (worst - 1):.0f} % of what the device can do"


def _distance(seconds: float, floor_seconds: float | None) -> float:
    return seconds / floor_seconds if floor_seconds else float("inf")


def _times(history: History) -> list[tuple[float, float | None]]:
    """Return time and floor of the incumbent on each workload, from the newest comparison."""
    incumbent = history.incumbent()
    for trial in reversed(history.trials()):
        if trial.results and trial.candidate == incumbent:
            return _column(trial.results, is_candidate=True)
        if trial.results and trial.against == incumbent:
            return _column(trial.results, is_candidate=False)
    return []


def _column(
    results: Sequence[WorkloadResult], *, is_candidate: bool
) -> list[tuple[float, float | None]]:
    return [
        (each.candidate_seconds if is_candidate else each.incumbent_seconds, each.floor_seconds)
        for each in results
    ]
