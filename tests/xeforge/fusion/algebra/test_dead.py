"""Operators that do nothing on the interval of their operand, against Torch in float64."""

import pytest

from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import fires
from tests.xeforge.fusion.algebra.cases import forbids
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.cases import stays

ABOVE_ZERO = ("relu", "sigmoid", "exp", "softplus", "square", "abs", "sqrt")


@pytest.mark.parametrize("second", ["relu", "abs", "leaky_relu", "elu", "celu"])
@pytest.mark.parametrize("first", ABOVE_ZERO)
def test_an_activation_above_zero_is_idle(first, second):
    case = Case()
    x = case.input(3, 4, low=0.0) if first == "sqrt" else case.input(3, 4)
    made = fires("idle_on_interval", case, case.op(second, case.op(first, x)))
    assert ops(made) == [first]


@pytest.mark.parametrize(
    ("op", "args"),
    [("clamp", (-1.0, 1.0)), ("clamp", (-2.0,)), ("hardtanh", ()), ("hardtanh", (-1.0, 5.0))],
)
def test_a_clamp_of_a_tanh_is_idle(op, args):
    case = Case()
    made = fires("idle_on_interval", case, case.op(op, case.op("tanh", case.input(3, 4)), *args))
    assert ops(made) == ["tanh"]


def test_a_minimum_with_a_constant_is_idle_on_either_side():
    for place in (0, 1):
        case = Case()
        pair = [case.op("sigmoid", case.input(3, 4)), case.constant(1.5)]
        fires("idle_on_interval", case, case.op("minimum", pair[place], pair[1 - place]))


def test_it_is_idle_behind_pools_means_and_views():
    case = Case()
    soft = case.op("softmax", case.input(2, 3, 4, 4), 1)
    mean = case.op("mean", case.op("max_pool2d", soft, [2, 2]), [2], False)
    fires("idle_on_interval", case, case.op("relu6", case.op("view", mean, [3, 4])))


def test_an_activation_of_what_may_be_negative_is_not_idle():
    case = Case()
    stays("idle_on_interval", case, case.op("relu", case.op("tanh", case.input(3, 4))))
    case = Case()
    stays("idle_on_interval", case, case.op("relu", case.input(3, 4)))


def test_a_gelu_falls_below_zero():
    case = Case()
    stays("idle_on_interval", case, case.op("relu", case.op("gelu", case.input(30))))


def test_a_tighter_clamp_is_not_idle():
    case = Case()
    stays("idle_on_interval", case, case.op("clamp", case.op("tanh", case.input(9)), -0.1, 1.0))


def test_an_activation_with_a_scale_is_never_idle():
    case = Case()
    scaled = case.op("elu", case.op("relu", case.input(9)), 1.0, 2.0)
    stays("idle_on_interval", case, scaled)


def test_a_clamp_from_one_side_is_a_number():
    case = Case()
    below = case.op("minimum", case.input(3, 4), case.constant(0.0))
    made = fires("constant_on_interval", case, case.op("clamp", below, 0.0, 1.0))
    assert ops(made) == ["full"]
    case = Case()
    made = fires(
        "constant_on_interval", case, case.op("hardtanh", case.op("relu", case.input(5)), -2.0, 0.0)
    )
    assert ops(made) == ["full"]


def test_a_clamp_whose_operand_lies_on_both_sides_is_none():
    case = Case()
    below = case.op("minimum", case.input(9), case.constant(0.5))
    stays("constant_on_interval", case, case.op("clamp", below, 0.0, 1.0))


def test_what_may_be_nan_for_finite_inputs_is_no_number():
    case = Case()
    below = case.op("minimum", case.op("log", case.input(9)), case.constant(0.0))
    clamped = case.op("clamp", below, 0.0, 1.0)
    assert case.value(clamped).isnan().any()
    forbids("constant_on_interval", case, clamped)


@pytest.mark.parametrize("op", ["softmax", "log_softmax", "logsumexp"])
def test_a_bounded_softmax_needs_no_maximum(op):
    case = Case()
    bounded = case.op("clamp", case.input(3, 4), -1.0, 1.0)
    made = fires("bounded_softmax", case, case.op(op, bounded, [1] if op == "logsumexp" else 1))
    assert made.nodes[-1].kwargs["is_bounded"] is True


def test_an_unbounded_softmax_does():
    case = Case()
    stays("bounded_softmax", case, case.op("softmax", case.input(3, 4, low=800.0, high=900.0), 1))


@pytest.mark.parametrize(("op", "number"), [("mul", 1), ("div", 1.0), ("add", 0), ("sub", 0.0)])
def test_a_neutral_number_is_idle(op, number):
    case = Case()
    made = fires("neutral_number", case, case.op(op, case.op("tanh", case.input(3, 4)), number))
    assert ops(made) == ["tanh"]


def test_another_number_is_not():
    for op, number in (("mul", 0), ("add", 1)):
        case = Case()
        stays("neutral_number", case, case.op(op, case.op("tanh", case.input(3, 4)), number))


def test_two_slopes_are_one():
    case = Case()
    made = fires(
        "two_slopes", case, case.op("leaky_relu", case.op("leaky_relu", case.input(9), 0.2))
    )
    assert len(made.nodes) == 1


def test_a_negative_slope_turns_the_sign():
    case = Case()
    once = case.op("leaky_relu", case.input(9), -0.5)
    stays("two_slopes", case, case.op("leaky_relu", once, 0.1))
