"""In which order two kernels are called, and when enough is known."""

import math
import random
import statistics
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xeforge.ports import TimingPlan

_CLEAR_LOG_RATIO = math.log(1.01)
_Z = 1.96
_CAUTION = 1.5
"""Neighbouring pairs are alike, so the plain standard error is too small."""

Side = Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One pair of calls on the same inputs.

    Attributes:
        number: Counts from 0.
        seed: Of inputs and weights; never repeated within a run.
        order: Which side is called first.
        is_control: Whether the baseline is compared with its own twin.
        checked: Sides whose output is compared with the oracle.
    """

    number: int
    seed: int
    order: tuple[Side, Side]
    is_control: bool
    checked: tuple[Side, ...]


def turns(seed: int, plan: TimingPlan, *, checks: int) -> Iterator[Turn]:
    """Yield pairs in ABBA order with control pairs among the first of them.

    Which outputs are checked is drawn anew for each call of this function: the kernels cannot
    know it, and neither can anyone who knows the seed of the inputs.

    Args:
        seed: First seed of the inputs.
        plan: How many pairs; controls come early, since a run may end after the fewest.
        checks: Candidate outputs to check among the fewest pairs, at most.
    """
    secret = random.SystemRandom()
    sure = min(plan.min_pairs, plan.max_pairs)
    chosen = {secret.randrange(sure) for _ in range(checks)}
    every = max(1, sure // max(1, plan.control_pairs))
    number = controls = 0
    for index in range(plan.max_pairs):
        checked: tuple[Side, ...] = ("second",) if index in chosen else ()
        yield Turn(number, seed + number, turn_order(index), is_control=False, checked=checked)
        number += 1
        if controls < plan.control_pairs and index % every == every - 1:
            yield Turn(number, seed + number, turn_order(controls), is_control=True, checked=())
            number, controls = number + 1, controls + 1


def turn_order(index: int) -> tuple[Side, Side]:
    """Return who goes first in a turn: the order is turned round each time."""
    return ("first", "second") if index % 2 == 0 else ("second", "first")


def is_decided(first: Sequence[float], second: Sequence[float]) -> bool:
    """Say whether more pairs can hardly change the comparison.

    A rough normal interval of the logarithms' mean lies clearly away from the ±1 % band, or
    inside it. The judge makes its own, better interval from the same samples.
    """
    logs = [math.log(a / b) for a, b in zip(first, second, strict=True) if a > 0 and b > 0]
    if len(logs) < 2:  # noqa: PLR2004  a spread needs two
        return False
    middle = statistics.fmean(logs)
    half = _CAUTION * _Z * statistics.stdev(logs) / math.sqrt(len(logs))
    is_away = abs(middle) - half > _CLEAR_LOG_RATIO
    is_inside = abs(middle) + half < _CLEAR_LOG_RATIO
    return is_away or is_inside
