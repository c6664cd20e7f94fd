"""Small steps from a setting that works, ordered by what earlier steps of the kind brought."""

import math
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.propose.search_limits import DEFAULT_STAGES
from xeforge.propose.search_limits import DEFAULT_WARPS
from xeforge.propose.search_limits import Limits
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import Knob

Key = tuple[str, str]
"""Kernel and knob."""

_GROUPS = (1, 4, 8, 16)
_SIZES = (Role.M, Role.N, Role.K, Role.BLOCK, Role.ROWS)
_TOGETHER = (
    (Role.M, 1, Role.WARPS, 1),
    (Role.N, 1, Role.WARPS, 1),
    (Role.BLOCK, 1, Role.WARPS, 1),
    (Role.BLOCK, -1, Role.WARPS, -1),
    (Role.M, 1, Role.N, -1),
    (Role.M, -1, Role.N, 1),
    (Role.ROWS, 1, Role.BLOCK, -1),
    (Role.ROWS, -1, Role.BLOCK, 1),
)
_LOSS_WHEN_REJECTED = math.log(0.5)


@dataclass(frozen=True, slots=True)
class Point:
    """One setting that was judged.

    Attributes:
        values: Of every knob of every kernel; Triton's defaults where the file says nothing.
        log_speed: Logarithm of its speed relative to the submitted kernel; None when it was
            rejected before its speed was compared.
    """

    values: Mapping[Key, int]
    log_speed: float | None


def value_of(knob: Knob) -> int:
    """Return the value in force, with Triton's default where the file says nothing."""
    if knob.value is not None:
        return knob.value
    return DEFAULT_WARPS if knob.role is Role.WARPS else DEFAULT_STAGES


def neighbours(
    knobs: tuple[Knob, ...], limits: Limits, points: Sequence[Point]
) -> tuple[dict[str, int], ...]:
    """Return the legal settings one step away from the present one, most promising first.

    Args:
        knobs: All knobs of one kernel, with present values.
        limits: Of the device and the problem.
        points: What was judged so far.
    """
    now = {each.name: value_of(each) for each in knobs}
    gains = _gains(points)
    found: list[tuple[float, int, dict[str, int]]] = []
    for order, step in enumerate(_steps(knobs, limits)):
        values = {**now, **step}
        if values != now and limits.fits(knobs, values):
            expected = sum(
                gains.get((knobs[0].kernel, name, value > now[name]), 0.0)
                for name, value in step.items()
            )
            found.append((-expected, order, step))
    return tuple(step for _, _, step in sorted(found, key=lambda each: each[:2]))


def _steps(knobs: tuple[Knob, ...], limits: Limits) -> Iterator[dict[str, int]]:
    by_role: dict[Role, Knob] = {}
    for each in knobs:
        by_role.setdefault(each.role, each)
    for knob in knobs:
        for value in _next_values(knob, limits):
            yield {knob.name: value}
    for first, up, second, down in _TOGETHER:
        if first in by_role and second in by_role:
            one = _moved(by_role[first], up, limits)
            other = _moved(by_role[second], down, limits)
            if one is not None and other is not None:
                yield {by_role[first].name: one, by_role[second].name: other}


def _next_values(knob: Knob, limits: Limits) -> Iterator[int]:
    if knob.role is Role.GROUP:
        yield from (each for each in _GROUPS if each != value_of(knob))
    elif knob.role is Role.OTHER:
        yield from (each for each in knob.choices if each != knob.value)
    else:
        for direction in (1, -1):
            value = _moved(knob, direction, limits)
            if value is not None:
                yield value


def _moved(knob: Knob, direction: int, limits: Limits) -> int | None:
    now = value_of(knob)
    if knob.role in _SIZES:
        value = now * 2 if direction > 0 else now // 2
        in_range = limits.lowest(knob.role) <= value <= limits.highest(knob.role)
        # Sizes of tiles must be powers of two.
        return value if in_range and value & (value - 1) == 0 else None
    legal = limits.device.num_warps if knob.role is Role.WARPS else limits.device.num_stages
    further = sorted(each for each in legal if (each - now) * direction > 0)
    if not further:
        return None
    return further[0] if direction > 0 else further[-1]


def _gains(points: Sequence[Point]) -> dict[tuple[str, str, bool], float]:
    """Return the mean logarithmic gain of moving one knob up or down, from pairs that show it."""
    sums: dict[tuple[str, str, bool], list[float]] = {}
    for number, one in enumerate(points):
        for other in points[number + 1 :]:
            key = _only_difference(one.values, other.values)
            if key is None or (one.log_speed is None and other.log_speed is None):
                continue
            gain = _gain(one, other)
            is_up = other.values[key] > one.values[key]
            sums.setdefault((*key, is_up), []).append(gain)
            sums.setdefault((*key, not is_up), []).append(-gain)
    return {key: sum(each) / len(each) for key, each in sums.items()}


def _gain(one: Point, other: Point) -> float:
    if one.log_speed is None:
        return -_LOSS_WHEN_REJECTED
    if other.log_speed is None:
        return _LOSS_WHEN_REJECTED
    return other.log_speed - one.log_speed


def _only_difference(one: Mapping[Key, int], other: Mapping[Key, int]) -> Key | None:
    if one.keys() != other.keys():
        return None
    different = [key for key, value in one.items() if other[key] != value]
    return different[0] if len(different) == 1 else None
