"""Is it really faster: paired samples in, a ratio with its interval and a decision out."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from math import exp
from math import isfinite
from math import log

import numpy as np

from xeforge.domain.samples import Estimate
from xeforge.domain.samples import PairedSamples
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Speed
from xeforge.verify.bootstrap import Series
from xeforge.verify.bootstrap import hodges_lehmann
from xeforge.verify.bootstrap import interval
from xeforge.verify.bootstrap import resampled_medians

LEAST_EFFECT = 0.02
"""Smaller differences are never claimed."""
LEAST_EFFECT_SHORT = 0.05
"""The same for kernels so short that launching them is a good part of their time."""
SHORT_SECONDS = 20e-6
ESTIMATED_EFFECT = 0.05
"""A model cannot tell smaller differences apart."""
_FLOORS_PER_EFFECT = 3
_WIDEST_SAME = 0.10
"""A bench too noisy to see a tenth does not call two kernels the same; it does not know."""
_LEAST_PAIRS = 8
_SEED = 20_240_901


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two kernels on one workload, or on all of them together.

    Attributes:
        workload: Name; empty for all together.
        weight: Share in the geometric mean.
        first_seconds, second_seconds: Median times; NaN for all together.
        ratio: First over second with its 95 % interval; above 1 the second is faster.
        second_opinion: Hodges-Lehmann estimate of the same ratio.
        noise_floor: Half-width or bias of the A/A control as a relative difference; infinite
            when there was no control.
        effect: Smallest relative difference that may be claimed.
        speed: The decision.
        pairs: How many pairs it rests on.
    """

    workload: str
    weight: float
    first_seconds: float
    second_seconds: float
    ratio: Interval
    second_opinion: float
    noise_floor: float
    effect: float
    speed: Speed
    pairs: int


def compare(samples: PairedSamples, *, seed: int = _SEED) -> Comparison:
    """Decide whether the second kernel is faster than the first on one workload.

    Args:
        samples: At least two pairs; fewer than eight are never decided.
        seed: Of the resampling; the same samples always give the same answer.
    """
    return _compare_one(_Spread.of(samples, seed))


def compare_all(
    samples: Sequence[PairedSamples], *, seed: int = _SEED
) -> tuple[Comparison, tuple[Comparison, ...]]:
    """Decide over all workloads: weighted geometric mean first, then each one.

    The mean is SLOWER whenever one workload is, however much the others win.
    """
    spreads = tuple(_Spread.of(each, seed + index) for index, each in enumerate(samples))
    each = tuple(_compare_one(spread) for spread in spreads)
    total = sum(spread.weight for spread in spreads)
    shares = [spread.weight / total for spread in spreads]
    medians = sum(share * s.medians for share, s in zip(shares, spreads, strict=True))
    controls = sum(share * s.control_medians for share, s in zip(shares, spreads, strict=True))
    floor = _floor(
        np.asarray(controls),
        sum(share * s.control for share, s in zip(shares, spreads, strict=True)),
    )
    least = sum(share * s.least_effect for share, s in zip(shares, spreads, strict=True))
    whole = _decided(
        workload="",
        weight=total,
        seconds=(float("nan"), float("nan")),
        medians=np.asarray(medians),
        point=sum(share * s.median for share, s in zip(shares, spreads, strict=True)),
        second_opinion=sum(share * s.opinion for share, s in zip(shares, spreads, strict=True)),
        floor=floor,
        least=least,
        pairs=min(s.pairs for s in spreads),
    )
    return _with_veto(whole, each), each


def compare_estimates(
    incumbent: Sequence[Estimate], candidate: Sequence[Estimate]
) -> tuple[Comparison, tuple[Comparison, ...]]:
    """Compare modelled times; intervals have no width since a model has no noise.

    A workload without a finite, positive time on both sides makes the answer UNDECIDED.
    """
    before = {each.workload: each for each in incumbent}
    each = tuple(_compare_modelled(before.get(after.workload), after) for after in candidate)
    total = sum(one.weight for one in each)
    logs = [one.weight * _log(one.ratio.estimate) for one in each]
    ratio = exp(sum(logs) / total) if total > 0 else float("nan")
    is_known = bool(each) and all(one.speed is not Speed.UNDECIDED for one in each)
    whole = Comparison(
        workload="",
        weight=total,
        first_seconds=sum(one.first_seconds for one in each),
        second_seconds=sum(one.second_seconds for one in each),
        ratio=Interval(ratio, ratio, ratio),
        second_opinion=ratio,
        noise_floor=0.0,
        effect=ESTIMATED_EFFECT,
        speed=_modelled_speed(ratio) if is_known else Speed.UNDECIDED,
        pairs=0,
    )
    return _with_veto(whole, each), each


@dataclass(frozen=True, slots=True)
class _Spread:
    """Log-ratios of one workload, resampled."""

    workload: str
    weight: float
    seconds: tuple[float, float]
    pairs: int
    median: float
    opinion: float
    medians: Series
    control: float
    control_medians: Series

    @classmethod
    def of(cls, samples: PairedSamples, seed: int) -> "_Spread":
        generator = np.random.default_rng(seed)
        logs = _log_ratios(samples.first_seconds, samples.second_seconds)
        control = _log_ratios(samples.control_first_seconds, samples.control_second_seconds)
        has_control = len(control) > 0
        return cls(
            workload=samples.workload,
            weight=samples.weight,
            seconds=(
                float(np.median(samples.first_seconds)),
                float(np.median(samples.second_seconds)),
            ),
            pairs=len(logs),
            median=float(np.median(logs)),
            opinion=hodges_lehmann(logs),
            medians=resampled_medians(logs, generator),
            control=float(np.median(control)) if has_control else float("inf"),
            control_medians=resampled_medians(control, generator) if has_control else np.zeros(1),
        )

    @property
    def least_effect(self) -> float:
        return LEAST_EFFECT_SHORT if min(self.seconds) < SHORT_SECONDS else LEAST_EFFECT


def _log_ratios(first: Sequence[float], second: Sequence[float]) -> Series:
    pairs = zip(first, second, strict=True)
    return np.array([log(one / other) for one, other in pairs], dtype=np.float64)


def _floor(control_medians: Series, control: float) -> float:
    """Return what the same kernel on both sides seems to differ by."""
    low, high = interval(control_medians)
    return max((high - low) / 2, abs(control))


def _compare_one(spread: _Spread) -> Comparison:
    return _decided(
        workload=spread.workload,
        weight=spread.weight,
        seconds=spread.seconds,
        medians=spread.medians,
        point=spread.median,
        second_opinion=spread.opinion,
        floor=_floor(spread.control_medians, spread.control),
        least=spread.least_effect,
        pairs=spread.pairs,
    )


def _decided(
    *,
    workload: str,
    weight: float,
    seconds: tuple[float, float],
    medians: Series,
    point: float,
    second_opinion: float,
    floor: float,
    least: float,
    pairs: int,
) -> Comparison:
    low, high = interval(medians)
    effect = max(least, _FLOORS_PER_EFFECT * floor)
    # The percentile interval may miss the estimate by a hair when values repeat.
    ratio = Interval(exp(point), exp(min(low, point)), exp(max(high, point)))
    speed = _speed(ratio, exp(second_opinion), effect)
    is_enough = pairs >= _LEAST_PAIRS and isfinite(floor)
    return Comparison(
        workload=workload,
        weight=weight,
        first_seconds=seconds[0],
        second_seconds=seconds[1],
        ratio=ratio,
        second_opinion=exp(second_opinion),
        noise_floor=floor,
        effect=effect,
        speed=speed if is_enough else Speed.UNDECIDED,
        pairs=pairs,
    )


def _speed(ratio: Interval, second_opinion: float, effect: float) -> Speed:
    """Decide as the measuring rules say; a win needs both opinions."""
    whole, half = 1 + effect, 1 + effect / 2
    if ratio.low > half and ratio.estimate >= whole and second_opinion > half:
        return Speed.FASTER
    if ratio.high < 1 / half and ratio.estimate <= 1 / whole and second_opinion < 1 / half:
        return Speed.SLOWER
    band = 1 + min(effect, _WIDEST_SAME)
    if ratio.low >= 1 / band and ratio.high <= band:
        return Speed.SAME
    return Speed.UNDECIDED


def _with_veto(whole: Comparison, each: Sequence[Comparison]) -> Comparison:
    """Call the mean slower when a workload is: nobody's shapes pay for the others' gain."""
    if any(one.speed is Speed.SLOWER for one in each):
        return replace(whole, speed=Speed.SLOWER)
    return whole


def _compare_modelled(before: Estimate | None, after: Estimate) -> Comparison:
    first = before.seconds if before is not None else float("nan")
    is_known = all(isfinite(value) and value > 0 for value in (first, after.seconds))
    ratio = first / after.seconds if is_known else float("nan")
    return Comparison(
        workload=after.workload,
        weight=after.weight,
        first_seconds=first,
        second_seconds=after.seconds,
        ratio=Interval(ratio, ratio, ratio),
        second_opinion=ratio,
        noise_floor=0.0,
        effect=ESTIMATED_EFFECT,
        speed=_modelled_speed(ratio) if is_known else Speed.UNDECIDED,
        pairs=0,
    )


def _modelled_speed(ratio: float) -> Speed:
    if ratio >= 1 + ESTIMATED_EFFECT:
        return Speed.FASTER
    return Speed.SLOWER if ratio <= 1 - ESTIMATED_EFFECT else Speed.SAME


def _log(value: float) -> float:
    return log(value) if value > 0 else float("nan")
