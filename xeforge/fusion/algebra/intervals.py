"""Between which numbers the results of an operator lie, for operands that are no NaN.

Bounds are closed and hold for the rounded results of Torch as well as for exact ones.
"""

import math
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass

Numbers = Mapping[str, float]
"""Numeric arguments by name."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, both included."""

    low: float = -math.inf
    high: float = math.inf

    def within(self, other: "Interval") -> bool:
        """Say whether no number of this one lies outside the other."""
        return other.low <= self.low and self.high <= other.high

    def hull(self, other: "Interval") -> "Interval":
        """Return the smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


EVERYTHING = Interval()


def _times(left: float, right: float) -> float:
    """Multiply bounds: a bound of zero stays zero whatever it meets."""
    return 0.0 if 0.0 in {left, right} else left * right


def added(left: Interval, right: Interval) -> Interval:
    """Return where sums lie; anywhere, where infinities may meet."""
    low, high = left.low + right.low, left.high + right.high
    return EVERYTHING if math.isnan(low) or math.isnan(high) else Interval(low, high)


def negated(value: Interval) -> Interval:
    """Return where negatives lie."""
    return Interval(-value.high, -value.low)


def multiplied(left: Interval, right: Interval) -> Interval:
    """Return where products lie."""
    ends = [_times(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Interval(min(ends), max(ends))


def divided(left: Interval, right: Interval) -> Interval:
    """Return where quotients lie; anywhere, where the divisor may be zero."""
    if right.low <= 0 <= right.high:
        return EVERYTHING
    inverse = Interval(*sorted((1 / right.low, 1 / right.high)))
    return multiplied(left, inverse)


def least(left: Interval, right: Interval) -> Interval:
    """Return where the smaller of two lies."""
    return Interval(min(left.low, right.low), min(left.high, right.high))


def greatest(left: Interval, right: Interval) -> Interval:
    """Return where the larger of two lies."""
    return Interval(max(left.low, right.low), max(left.high, right.high))


def clamped(value: Interval, low: float, high: float) -> Interval:
    """Return where clamped numbers lie; the upper limit wins."""
    return least(greatest(value, Interval(low, low)), Interval(high, high))


def applied(op: str, value: Interval, numbers: Numbers) -> Interval:
    """Return where the results of an activation lie; anywhere, where nothing is known of it."""
    found = _ACTIVATIONS.get(op)
    return EVERYTHING if found is None else found(value, numbers)


def _monotone(
    function: Callable[[float], float], low: float, high: float
) -> Callable[[Interval, Numbers], Interval]:
    """Map both ends, widened by a rounding, within the function's own bounds."""

    def bounds(value: Interval, _: Numbers) -> Interval:
        ends = [_limit(function, value.low, low), _limit(function, value.high, high)]
        slack = [abs(each) * 2**-6 if math.isfinite(each) else 0.0 for each in ends]
        return Interval(max(ends[0] - slack[0], low), min(ends[1] + slack[1], high))

    return bounds


def _limit(function: Callable[[float], float], at: float, otherwise: float) -> float:
    try:
        return function(at) if math.isfinite(at) else otherwise
    except OverflowError:
        return otherwise


def _dipping(least_value: float) -> Callable[[Interval, Numbers], Interval]:
    """Bound ``x * s(x)`` with s between 0 and 1: never above x, nor below its one dip."""

    def bounds(value: Interval, _: Numbers) -> Interval:
        low = 0.0 if value.low >= 0 else least_value
        return Interval(low, max(value.high, 0.0))

    return bounds


def _leaky(value: Interval, numbers: Numbers) -> Interval:
    slope = numbers.get("negative_slope", 0.01)
    ends = [each if each > 0 else _times(each, slope) for each in (value.low, value.high)]
    inside = [0.0] if value.low < 0 < value.high else []
    return Interval(min([*ends, *inside]), max([*ends, *inside]))


def _elu(value: Interval, numbers: Numbers) -> Interval:
    if set(numbers) & {"scale", "input_scale"} or numbers.get("alpha", 1.0) < 0:
        return EVERYTHING
    low = -numbers.get("alpha", 1.0) if value.low < 0 else value.low
    return Interval(low, max(value.high, 0.0))


def _absolute(value: Interval, _: Numbers) -> Interval:
    ends = sorted((abs(value.low), abs(value.high)))
    return Interval(0.0 if value.low <= 0 <= value.high else ends[0], ends[1])


def _square(value: Interval, numbers: Numbers) -> Interval:
    return multiplied(*[_absolute(value, numbers)] * 2)


def _power(value: Interval, numbers: Numbers) -> Interval:
    return _square(value, numbers) if numbers.get("exponent") == 2 else EVERYTHING  # noqa: PLR2004


_ACTIVATIONS: Mapping[str, Callable[[Interval, Numbers], Interval]] = {
    "relu": lambda value, _: clamped(value, 0.0, math.inf),
    "relu6": lambda value, _: clamped(value, 0.0, 6.0),
    "hardtanh": lambda value, n: clamped(value, n.get("min_val", -1.0), n.get("max_val", 1.0)),
    **dict.fromkeys(
        ("clamp", "clamp_min", "clamp_max"),
        lambda value, n: clamped(value, n.get("min", -math.inf), n.get("max", math.inf)),
    ),
    "sigmoid": _monotone(lambda x: 1 / (1 + math.exp(-x)), 0.0, 1.0),
    "tanh": _monotone(math.tanh, -1.0, 1.0),
    "erf": _monotone(math.erf, -1.0, 1.0),
    "exp": _monotone(math.exp, 0.0, math.inf),
    "softplus": lambda _, __: Interval(0.0, math.inf),
    "sqrt": lambda _, __: Interval(0.0, math.inf),
    "rsqrt": lambda _, __: Interval(0.0, math.inf),
    "hardsigmoid": lambda _, __: Interval(0.0, 1.0),
    "log_sigmoid": lambda _, __: Interval(-math.inf, 0.0),
    **dict.fromkeys(("sin", "cos"), lambda _, __: Interval(-1.0, 1.0)),
    # Least values: -0.16997 and -0.17004 (gelu, and by tanh), -0.27846, -0.30884, -0.375.
    "gelu": _dipping(-0.1705),
    "silu": _dipping(-0.279),
    "mish": _dipping(-0.3095),
    "hardswish": _dipping(-0.3755),
    "leaky_relu": _leaky,
    "elu": _elu,
    "celu": _elu,
    "abs": _absolute,
    "square": _square,
    "pow": _power,
    "neg": lambda value, _: negated(value),
}
