"""Steps and batch norms folded into parameters, against Torch in float64."""

import pytest

from tests.xeforge.fusion.algebra.cases import SEEDS
from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import fires
from tests.xeforge.fusion.algebra.cases import forbids
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.cases import rewritten
from tests.xeforge.fusion.algebra.cases import stays


def layer(case, features, *, has_bias=None):
    """Return a linear layer or a convolution, and the shape of a vector along its features."""
    bias = case.maybe(features) if has_bias is None else [case.parameter(features)] * has_bias
    kind = case.choice.choice(("linear", "conv1d", "conv2d", "conv_transpose2d"))
    if kind == "linear":
        return case.op("linear", case.input(3, 4), case.parameter(features, 4), *bias), (features,)
    rank = int(kind[-2])
    pair = (2, features) if "transpose" in kind else (features, 2)
    x, w = case.input(2, 2, *[5] * rank), case.parameter(*pair, *[3] * rank)
    return case.op(kind, x, w, *bias), (features, *[1] * rank)


def operand(case, shape):
    """Return a number, one element, or a vector."""
    kind = case.choice.choice(("number", "one", "vector"))
    if kind == "number":
        return case.choice.choice((0.5, -3))
    return case.parameter(*(() if kind == "one" else shape), low=0.5)


@pytest.mark.parametrize("op", ["add", "sub"])
@pytest.mark.parametrize("seed", range(10))
def test_a_shift_goes_into_the_bias(op, seed):
    case = Case(seed)
    made, shape = layer(case, 3)
    assert (
        op not in ops(fires("shift_into_bias", case, case.op(op, made, operand(case, shape))))[-1]
    )


def test_a_shift_on_the_left_too():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(2, 4))
    fires("shift_into_bias", case, case.op("add", case.parameter(2), linear))


def test_a_shift_along_rows_stays():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(3, 4))
    stays("shift_into_bias", case, case.op("add", linear, case.parameter(3, 1)))


@pytest.mark.parametrize("op", ["mul", "div"])
@pytest.mark.parametrize("seed", range(10))
def test_a_scale_goes_into_the_weight(op, seed):
    case = Case(seed)
    made, shape = layer(case, 3)
    fires("scale_into_weight", case, case.op(op, made, operand(case, shape)))


def test_a_scale_along_rows_stays():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(3, 4))
    stays("scale_into_weight", case, case.op("mul", linear, case.parameter(3, 1)))


def test_groups_of_a_transposed_convolution_share_the_weight():
    case = Case()
    args = (case.input(1, 4, 5), case.parameter(4, 3, 3), None, [1], [0], [0], 2)
    conv = case.op("conv_transpose1d", *args)
    forbids("scale_into_weight", case, case.op("mul", conv, case.parameter(6, 1)))
    fires("scale_into_weight", case, case.op("mul", conv, 2.5))


@pytest.mark.parametrize("seed", range(8))
def test_a_batch_norm_in_eval_mode_goes_into_the_weight(seed):
    case = Case(seed)
    made, _ = layer(case, 3)
    pair = [each[0] if (each := case.maybe(3)) else None for _ in range(2)]
    statistics = case.parameter(3), case.parameter(3, low=0.5)
    norm = case.op("batch_norm", made, *pair, *statistics, False, 0.1, 1e-2, True)
    assert "batch_norm" not in ops(fires("norm_into_weight", case, norm))


def test_a_batch_norm_of_the_batch_stays():
    case = Case()
    linear = case.op("linear", case.input(5, 4), case.parameter(3, 4))
    pair, statistics = [case.parameter(3)] * 2, (case.parameter(3), case.parameter(3, low=0.5))
    # Torch updates its own copies of the statistics.
    kept = [case.tensors[each.name].clone() for each in statistics]
    norm = case.op("batch_norm", linear, *pair, *statistics, True, 0.1, 1e-2, False)
    for each, value in zip(statistics, kept, strict=True):
        case.tensors[each.name] = value
    stays("norm_into_weight", case, norm)


def norms(case):
    """Return norms with and without weight and bias, and a fitting shape for what follows."""
    x = case.input(3, 4, 5)
    pair = [each[0] if (each := case.maybe(4)) else None for _ in range(2)]
    last = [each[0] if (each := case.maybe(5)) else None for _ in range(2)]
    return (
        (case.op("group_norm", x, 2, *pair, 1e-2, False), (4, 1)),
        (case.op("layer_norm", x, [5], *last, 1e-2, False), (5,)),
        (case.op("instance_norm", x, *pair, None, None, True, 0.1, 1e-2, False), (4, 1)),
        (case.op("batch_norm", x, *pair, None, None, True, 0.1, 1e-2, False), (1, 4, 1)),
    )


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_goes_into_the_norm_before_it(op, seed):
    for place in range(4):
        case = Case(seed)
        norm, shape = norms(case)[place]
        assert fires("affine_into_norm", case, case.op(op, norm, operand(case, shape)))


def test_a_scale_goes_into_an_rms_norm_and_a_shift_does_not():
    case = Case()
    norm = case.op("rms_norm", case.input(3, 4), [4], None, 1e-2)
    fires("affine_into_norm", case, case.op("mul", norm, case.parameter(4)))
    case = Case()
    norm = case.op("rms_norm", case.input(3, 4), [4], None, 1e-2)
    forbids("affine_into_norm", case, case.op("add", norm, 1.5))


def test_a_scale_along_another_axis_is_no_weight():
    import numpy as np

    case = Case()
    norm = case.op("layer_norm", case.input(4, 4), [4], None, None, 1e-2, False)
    by_rows = case.op("mul", norm, rows := case.parameter(4, 1))
    forbids("affine_into_norm", case, by_rows)
    as_weight = case.value(norm) * case.value(rows).reshape(4)
    assert not np.allclose(as_weight, case.value(by_rows))


@pytest.mark.parametrize(
    ("first", "second"), [("mul", "div"), ("add", "sub"), ("div", "div"), ("sub", "add")]
)
def test_two_numbers_become_one(first, second):
    case = Case()
    once = case.op(first, case.input(3, 4), 4.0)
    made = fires("two_numbers", case, case.op(second, once, -0.3))
    assert len(made.nodes) == 1


def test_a_number_and_a_parameter_stay_two():
    case = Case()
    once = case.op("mul", case.input(3, 4), 4.0)
    stays("two_numbers", case, case.op("mul", once, case.parameter(4)))


def test_numbers_whose_product_overflows_stay_two():
    case = Case()
    once = case.op("mul", case.input(3), 1e-25)
    forbids("two_numbers", case, case.op("mul", once, 1e-25))


def test_weights_of_float16_might_overflow_and_stay():
    case = Case()
    case.dtype = "float16"
    linear = case.op("linear", case.input(3, 4), case.parameter(2, 4))
    forbids("scale_into_weight", case, case.op("mul", linear, case.parameter(2)))
    weight, factor = case.torch_dtype("float16"), 100.0
    import torch

    small, large = torch.full((1,), 1e-3, dtype=weight), torch.full((1,), 1000.0, dtype=weight)
    assert (small * large * factor).isfinite()
    assert not (small * (large * factor)).isfinite()


def test_a_shift_of_halves_gives_a_wide_bias():
    case = Case()
    case.dtype = "float16"
    linear = case.op("linear", case.input(3, 4), case.parameter(2, 4), case.parameter(2))
    graph = case.graph(case.op("add", linear, case.parameter(2)))
    (made,) = rewritten("shift_into_bias", graph)
    assert [each.dtype for each in made.nodes] == ["float32", "float16"]


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_a_constant_of_the_module_goes_the_same_ways(op, has_bias):
    case = Case()
    made, _ = layer(case, 3, has_bias=has_bias)
    name = "shift_into_bias" if op in {"add", "sub"} else "scale_into_weight"
    fires(name, case, case.op(op, made, case.constant(2.5)))


def test_a_convolution_without_a_batch_is_left_alone():
    case = Case()
    conv = case.op("conv1d", case.input(3, 6), case.parameter(4, 3, 3))
    shifted = case.graph(case.op("add", conv, case.parameter(4)))
    assert rewritten("shift_into_bias", shifted) == [None]
