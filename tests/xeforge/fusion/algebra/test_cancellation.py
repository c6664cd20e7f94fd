"""Shifts and scales under norms and softmax, against Torch in float64."""

import pytest

from tests.xeforge.fusion.algebra.cases import SEEDS
from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import fires
from tests.xeforge.fusion.algebra.cases import forbids
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.cases import stays

NORMS = {
    "softmax": lambda case, x: case.op("softmax", x, 1),
    "log_softmax": lambda case, x: case.op("log_softmax", x, 1),
    "layer_norm": lambda case, x: case.op("layer_norm", x, [5], None, None, 1e-2, False),
    "group_norm": lambda case, x: case.op("group_norm", x, 2, case.parameter(4), None, 1e-2, False),
    "batch_norm": lambda case, x: case.op(
        "batch_norm", x, case.parameter(4), None, None, None, True, 0.1, 1e-2, False
    ),
    "instance_norm": lambda case, x: case.op(
        "instance_norm", x, None, None, None, None, True, 0.1, 1e-2, False
    ),
}
BLIND_TO = {
    "softmax": (3, 1, 5),
    "log_softmax": (3, 1, 5),
    "layer_norm": (3, 4, 1),
    "group_norm": (3, 1, 1),
    "batch_norm": (4, 1),
    "instance_norm": (3, 4, 1),
}
SEES = {
    "softmax": (4, 1),
    "log_softmax": (4, 5),
    "layer_norm": (5,),
    "group_norm": (4, 1),
    "batch_norm": (3, 1, 1),
    "instance_norm": (5,),
}


@pytest.mark.parametrize("op", ["add", "sub"])
@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("is_number", [False, True])
def test_a_shift_that_is_constant_cancels(kind, op, is_number):
    case = Case()
    x, shift = case.input(3, 4, 5), 1.5 if is_number else case.input(*BLIND_TO[kind])
    made = fires("shift_under_norm", case, NORMS[kind](case, case.op(op, x, shift)))
    assert ops(made) == [kind]


@pytest.mark.parametrize("kind", NORMS)
def test_a_shift_that_varies_does_not(kind):
    case = Case()
    shifted = case.op("add", case.input(3, 4, 5), case.input(*SEES[kind]))
    stays("shift_under_norm", case, NORMS[kind](case, shifted))


def test_a_root_mean_square_sees_every_shift():
    case = Case()
    shifted = case.op("add", case.input(3, 4), 1.5)
    stays("shift_under_norm", case, case.op("rms_norm", shifted, [4], None, 1e-2))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["batch_norm", "instance_norm", "layer_norm"])
def test_the_bias_of_a_convolution_cancels(kind, seed):
    case = Case(seed)
    op = case.choice.choice(("conv1d", "conv_transpose1d"))
    pair = (2, 4) if "transpose" in op else (4, 2)
    size = 3 if "transpose" in op else 7
    conv = case.op(op, case.input(3, 2, size), case.parameter(*pair, 3), case.parameter(4))
    made = fires("bias_under_norm", case, NORMS[kind](case, conv))
    assert len(made.parameters) < len(case.parameters)


def test_the_bias_under_a_norm_over_channels_stays():
    case = Case()
    conv = case.op("conv1d", case.input(3, 2, 7), case.parameter(4, 2, 3), case.parameter(4))
    stays("bias_under_norm", case, NORMS["group_norm"](case, conv))


def test_a_bias_cancels_where_each_channel_is_a_group():
    case = Case()
    conv = case.op("conv1d", case.input(3, 2, 7), case.parameter(4, 2, 3), case.parameter(4))
    fires("bias_under_norm", case, case.op("group_norm", conv, 4, None, None, 1e-2, False))


def with_statistics(case, x):
    statistics = case.parameter(4), case.parameter(4, low=0.5)
    norm = case.op("batch_norm", x, None, None, *statistics, True, 0.1, 1e-2, False)
    return norm, statistics


def test_a_batch_norm_that_records_its_statistics_is_left_alone():
    case = Case()
    x = case.input(3, 4, 5)
    norm, recorded = with_statistics(case, case.op("add", x, 1.5))
    forbids("shift_under_norm", case, norm)
    other = Case()
    _, without = with_statistics(other, other.input(3, 4, 5))
    # The same x and statistics at first: what is recorded differs by the shift.
    shift = case.value(recorded[0]) - other.value(without[0])
    assert abs(shift - 0.15).max() < 1e-12


def test_the_scale_and_the_bias_before_it_too():
    case = Case()
    conv = case.op("conv1d", case.input(3, 2, 7), case.parameter(4, 2, 3), case.parameter(4))
    forbids("bias_under_norm", case, with_statistics(case, conv)[0])
    case = Case()
    scaled = case.op("mul", case.input(3, 4, 5), 2.0)
    forbids("scale_under_norm", case, with_statistics(case, scaled)[0])


@pytest.mark.parametrize("kind", ["batch_norm", "instance_norm", "layer_norm", "group_norm"])
@pytest.mark.parametrize(("op", "factor"), [("mul", 3.0), ("mul", 0.01), ("div", 0.2)])
def test_a_positive_number_goes_into_eps(kind, op, factor):
    case = Case()
    scaled = case.op(op, case.input(3, 4, 5), factor)
    made = fires("scale_under_norm", case, NORMS[kind](case, scaled))
    assert ops(made) == [kind]


def test_a_negative_number_goes_into_eps_and_weight():
    case = Case()
    scaled = case.op("mul", case.input(3, 4, 5), -0.1)
    made = fires("scale_under_norm", case, NORMS["group_norm"](case, scaled))
    assert "neg" in ops(made)
    case = Case()
    scaled = case.op("mul", case.input(3, 4), -0.1)
    norm = case.op("rms_norm", scaled, [4], case.parameter(4), 1e-2)
    fires("scale_under_norm", case, norm)


def test_a_parameter_may_have_any_sign():
    case = Case()
    scaled = case.op("mul", case.input(3, 4, 5), case.parameter(4, 1, low=-2.0, high=-1.0))
    stays("scale_under_norm", case, NORMS["instance_norm"](case, scaled))


def test_a_softmax_is_not_blind_to_factors():
    case = Case()
    scaled = case.op("mul", case.input(3, 4, 5), 2.0)
    soft = NORMS["softmax"](case, scaled)
    forbids("scale_under_norm", case, soft)
    assert abs(case.value(soft) - case.tensors[case.inputs[0].name].softmax(1)).max() > 1e-3


def test_an_eps_that_would_overflow_stays():
    case = Case()
    scaled = case.op("mul", case.input(3, 4, 5), 1e-20)
    forbids("scale_under_norm", case, NORMS["layer_norm"](case, scaled))
