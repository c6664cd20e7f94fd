"""Was the card the same card all through a run? Clocks fall and heat throttles in mid-run.

Sides alternate call by call, so a change of level alone harms no ratio and is only told. A ratio
that moves together with the level cannot be trusted, and a card that slows itself down for heat
or want of power is not fit to measure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from math import log
from math import sqrt

import numpy as np

from xeforge.domain.samples import Conditions
from xeforge.domain.samples import PairedSamples
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import void
from xeforge.verify.bootstrap import Series

UNFIT = frozenset(
    {
        "hardware slowdown",
        "software thermal slowdown",
        "hardware thermal slowdown",
        "hardware power brake",
    }
)
"""Reasons a driver names when the card protects itself. A power cap is normal under full load."""
LEAST_FALL = 0.10
"""Smaller changes of clock or level are a busy card's ordinary life."""
LEAST_SHIFT = 0.02
"""Smaller changes of a ratio are never claimed, so they cannot be missed either."""
_LEAST_PART = 6
_PARTS = 6
_SIGMA_OF_MAD = 1.4826
_SIGMAS = 4.0


@dataclass(frozen=True, slots=True)
class Break:
    """The place of a run at which the times changed most.

    Attributes:
        pair: First pair after it.
        level: Later times over earlier ones, both sides together; above 1: slower.
        ratio: Later ratio of the sides over the earlier one.
        doubt: How much of a change of the ratio the noise of the run explains.
    """

    pair: int
    level: float
    ratio: float
    doubt: float

    @property
    def moves_ratio(self) -> bool:
        """Whether the sides were hit differently, beyond noise and least effect."""
        return abs(log(self.ratio)) > max(log(1 + LEAST_SHIFT), self.doubt)


def find_break(samples: PairedSamples) -> Break | None:
    """Return where the level of both sides changed, when it did by a tenth or more.

    None as well for runs too short to tell.
    """
    pairs = list(zip(samples.first_seconds, samples.second_seconds, strict=True))
    shortest = max(_LEAST_PART, len(pairs) // _PARTS)
    if len(pairs) < 2 * shortest:
        return None
    level = np.array([(log(one) + log(other)) / 2 for one, other in pairs])
    ratio = np.array([log(one) - log(other) for one, other in pairs])
    places = range(shortest, len(pairs) - shortest + 1)
    ranks = _ranks(level)
    place = max(places, key=lambda at: _contrast(ranks, at))
    change = _shift(level, place)
    if abs(change) < log(1 + LEAST_FALL):
        return None
    doubt = _SIGMAS * _spread(ratio, place) / sqrt(min(place, len(pairs) - place))
    return Break(place, exp(change), exp(_shift(ratio, place)), doubt)


def _ranks(values: Series) -> Series:
    """Return places in sorted order, equal values sharing theirs: deaf to single outliers."""
    ordered = np.sort(values)
    low, high = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    shared: Series = (low + high) / 2
    return shared


def _contrast(ranks: Series, at: int) -> float:
    """Return how clearly two parts of a series differ; largest where a change happened."""
    difference = float(ranks[at:].mean() - ranks[:at].mean())
    return abs(difference) * sqrt(at * (len(ranks) - at))


def _shift(values: Series, at: int) -> float:
    return float(np.median(values[at:]) - np.median(values[:at]))


def _spread(values: Series, at: int) -> float:
    """Return the robust deviation within both parts."""
    parts = (values[:at], values[at:])
    apart = np.concatenate([np.abs(part - np.median(part)) for part in parts])
    return _SIGMA_OF_MAD * float(np.median(apart))


def fallen_clock(conditions: Conditions) -> str:
    """Say how far the clock fell between readings, when it did by a tenth or more."""
    clocks = conditions.sm_clock_mhz
    for earlier, later in pairwise(clocks):
        if later < (1 - LEAST_FALL) * earlier:
            return f"the clock fell from {earlier} to {later} MHz"
    return ""


def disturbed(samples: Sequence[PairedSamples]) -> Verdict | None:
    """Return the verdict of a run that cannot be trusted: void, or undecided; None: it can."""
    for each in samples:
        unfit = [name for name in each.conditions.throttle if name in UNFIT]
        if unfit:
            return void(
                VoidReason.DEVICE_UNHEALTHY,
                f"{each.workload}: the card slowed itself down while timed: {', '.join(unfit)}",
            )
    for each in samples:
        found = find_break(each)
        if found is not None and found.moves_ratio:
            return Verdict(
                Outcome.UNDECIDED,
                f"{each.workload}: from pair {found.pair} on, times are {found.level:.2f} times "
                f"and the ratio {found.ratio:.3f} times what they were; not one measurement",
            )
    return None


def remarks(samples: Sequence[PairedSamples]) -> list[str]:
    """Say what changed in mid-run without harm to the ratio."""
    notes = []
    for each in samples:
        clock = fallen_clock(each.conditions)
        found = find_break(each)
        if clock:
            notes.append(f"{each.workload}: {clock}")
        if found is not None:
            notes.append(
                f"{each.workload}: from pair {found.pair} on, both sides take {found.level:.2f} "
                "times as long; their ratio stands"
                if not found.moves_ratio
                else f"{each.workload}: the sides were hit differently from pair {found.pair} on"
            )
    return notes
