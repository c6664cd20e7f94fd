"""Bounds hold for what Torch computes, and are tight where rules need them to be."""

import math

import pytest
import torch

from xeforge.fusion.algebra import intervals
from xeforge.fusion.algebra.intervals import EVERYTHING
from xeforge.fusion.algebra.intervals import Interval

RANGES = ((-3.0, -1.0), (-2.0, 3.0), (0.0, 4.0), (1.0, 2.0), (-30.0, 30.0))
WITH_NUMBERS = {
    "leaky_relu": ({"negative_slope": 0.2}, {"negative_slope": -0.3}),
    "elu": ({"alpha": 0.5}, {}),
    "celu": ({}, {"alpha": 2.0}),
    "clamp": ({"min": -0.5, "max": 0.5}, {"min": 1.5}, {"max": -0.5}),
    "hardtanh": ({}, {"min_val": -0.1, "max_val": 2.0}),
    "pow": ({"exponent": 2}, {"exponent": 3}),
}
PLAIN = (
    *("relu", "relu6", "sigmoid", "tanh", "erf", "exp", "softplus", "hardsigmoid", "log_sigmoid"),
    *("sin", "cos", "gelu", "silu", "mish", "hardswish", "abs", "square", "neg"),
)
CASES = [
    *((op, {}) for op in PLAIN),
    *((op, numbers) for op, several in WITH_NUMBERS.items() for numbers in several),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize(("op", "numbers"), CASES)
def test_all_results_lie_inside(op, numbers, dtype):
    function = getattr(torch.ops.aten, op)
    for low, high in RANGES:
        x = torch.linspace(low, high, 2001, dtype=getattr(torch, dtype))
        bounds = intervals.applied(op, Interval(low, high), numbers)
        y = function(x, *numbers.values()) if op == "pow" else function(x, **numbers)
        assert bounds.low <= y.min() + 1e-6 * abs(y.min())
        assert y.max() <= bounds.high + 1e-6 * abs(y.max())


def test_the_bounds_that_rules_rely_on_are_exact():
    assert intervals.applied("tanh", EVERYTHING, {}) == Interval(-1.0, 1.0)
    assert intervals.applied("sigmoid", EVERYTHING, {}) == Interval(0.0, 1.0)
    assert intervals.applied("relu", Interval(-2, 3), {}) == Interval(0.0, 3.0)
    assert intervals.applied("clamp", Interval(5, 6), {"min": 0.0, "max": 1.0}) == Interval(1, 1)
    assert intervals.applied("nothing", Interval(5, 6), {}) == EVERYTHING


def test_arithmetic():
    left, right = Interval(-1, 2), Interval(3, 4)
    assert intervals.added(left, right) == Interval(2, 6)
    assert intervals.multiplied(left, right) == Interval(-4, 8)
    assert intervals.divided(left, Interval(-2, -1)) == Interval(-2, 1)
    assert intervals.divided(left, left) == EVERYTHING
    assert intervals.multiplied(EVERYTHING, Interval(0, 0)) == Interval(0, 0)
    assert intervals.negated(right) == Interval(-4, -3)
    assert intervals.least(left, Interval(0, 9)) == Interval(-1, 2)
    assert intervals.greatest(left, Interval(0, 9)) == Interval(0, 9)
    assert left.hull(right) == Interval(-1, 4)


def test_infinities_that_meet_give_no_nan():
    assert intervals.added(Interval(math.inf, math.inf), EVERYTHING) == EVERYTHING


def test_within_and_bounded():
    assert Interval(0, 1).within(Interval(0, 1))
    assert not Interval(0, 1).within(Interval(0.5, 1))
    assert Interval(0, 1).is_bounded
    assert not EVERYTHING.is_bounded
    assert str(Interval(0, 1.5)) == "[0, 1.5]"
