"""Steps and activations behind reductions and pools, against Torch in float64."""

import pytest

from tests.xeforge.fusion.algebra.cases import SEEDS
from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import fires
from tests.xeforge.fusion.algebra.cases import forbids
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.cases import stays


@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("step", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_goes_behind_a_sum(op, step, seed):
    case = Case(seed)
    shape = case.sizes(3)
    axes = case.some(range(3))
    is_shift = step in {"add", "sub"}
    # What is added may vary along what is summed, what is multiplied may not.
    kept = [
        1 if case.choice.random() < 0.4 or (place in axes and not is_shift) else size
        for place, size in enumerate(shape)
    ]
    other = case.choice.choice((2.5, case.parameter(*kept, low=0.5)))
    stepped = case.op(step, case.input(*shape), other)
    made = fires("step_after_fold", case, case.op(op, stepped, axes, case.choice.random() < 0.5))
    assert made.nodes[-1].op == step


@pytest.mark.parametrize("op", ["amax", "amin", "logsumexp"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_a_shift_goes_behind_a_maximum(op, keepdim):
    case = Case()
    shifted = case.op("sub", case.input(3, 4, 5), case.parameter(4, 1))
    fires("step_after_fold", case, case.op(op, shifted, [2], keepdim))


def test_a_positive_factor_goes_behind_a_maximum_with_positions():
    case = Case()
    scaled = case.op("mul", case.input(3, 4), 2.0)
    made = fires("step_after_fold", case, case.op("max", scaled, 1, index=0))
    assert ops(made) == ["amax", "mul"]


def test_so_does_one_that_is_positive_whatever_the_parameter():
    case = Case()
    factor = case.op("exp", case.parameter(4, 1))
    shifted = case.op("add", case.op("sigmoid", factor), 1.0)
    scaled = case.op("mul", case.input(3, 4, 5), shifted)
    fires("step_after_fold", case, case.op("amax", scaled, [2], False))


def test_a_negative_factor_turns_a_maximum_into_a_minimum():
    case = Case()
    scaled = case.op("mul", case.input(3, 4), -2.0)
    stays("step_after_fold", case, case.op("amax", scaled, [1], False))


def test_a_parameter_may_be_negative():
    case = Case()
    scaled = case.op("mul", case.input(3, 4), case.parameter(1, low=-2.0, high=-1.0))
    stays("step_after_fold", case, case.op("amax", scaled, [1], True))


def test_a_log_sum_exp_takes_no_factor():
    case = Case()
    scaled = case.op("mul", case.input(3, 4), 2.0)
    stays("step_after_fold", case, case.op("logsumexp", scaled, [1], False))


def test_a_factor_that_varies_stays_in_the_sum():
    case = Case()
    scaled = case.op("mul", case.input(3, 4), case.parameter(4))
    forbids("step_after_fold", case, case.op("sum", scaled, [1], False))


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_goes_behind_a_pool(kind, seed):
    case = Case(seed)
    rank = case.choice.choice((1, 2, 3))
    x = case.input(2, 3, *(case.size(4, 6) for _ in range(rank)))
    step = case.choice.choice(("add", "sub", "mul", "div"))
    is_shift = step in {"add", "sub"}
    other = case.parameter(3, *[1] * rank) if is_shift or kind == "avg" else 2.5
    padding = [case.choice.randint(0, 1) if kind == "max" or not is_shift else 0] * rank
    stepped = case.op(step, x, other)
    pooled = case.op(f"{kind}_pool{rank}d", stepped, [2] * rank, [1] * rank, padding)
    fires("step_after_pool", case, pooled)


def test_a_negative_factor_stays_before_a_max_pool():
    case = Case()
    scaled = case.op("mul", case.input(2, 3, 6), -1.0)
    stays("step_after_pool", case, case.op("max_pool1d", scaled, [2], [2]))


def test_a_shift_stays_before_a_pool_that_averages_padding():
    case = Case()
    shifted = case.op("add", case.input(2, 3, 6), 3.0)
    stays("step_after_pool", case, case.op("avg_pool1d", shifted, [2], [2], [1]))


def test_a_factor_along_the_window_stays():
    case = Case()
    scaled = case.op("mul", case.input(2, 3, 6), case.parameter(6))
    forbids("step_after_pool", case, case.op("avg_pool1d", scaled, [2], [2]))


RISING = (
    *("relu", "relu6", "hardtanh", "hardsigmoid", "sigmoid", "tanh", "erf", "exp", "softplus"),
    *("log_sigmoid", "elu", "celu", "selu", "leaky_relu", "floor", "expm1"),
)


@pytest.mark.parametrize("op", RISING)
def test_what_never_falls_goes_behind_a_maximum(op):
    case = Case()
    made = fires(
        "pointwise_after_max", case, case.op("amax", case.op(op, case.input(3, 9)), [1], False)
    )
    assert ops(made) == ["amax", op]
    case = Case()
    activated = case.op(op, case.input(2, 3, 6, 6))
    pooled = case.op("max_pool2d", activated, [3, 3], [2, 2], [1, 1])
    assert ops(fires("pointwise_after_max", case, pooled)) == ["max_pool2d", op]


def test_it_goes_behind_a_minimum_too():
    case = Case()
    clamped = case.op("clamp", case.input(3, 9), -0.5, 1.0)
    fires("pointwise_after_max", case, case.op("min", clamped, 1, True, index=0))


@pytest.mark.parametrize("op", ["gelu", "silu", "mish", "hardswish", "neg", "abs", "square", "cos"])
def test_what_falls_somewhere_stays(op):
    case = Case()
    activated = case.op(op, case.input(3, 3, low=-2.0, high=-0.1))
    if op == "neg":
        stays("pointwise_after_max", case, case.op("amax", activated, [1], False))
        return
    forbids("pointwise_after_max", case, case.op("amax", activated, [1], False))
    case = Case()
    activated = case.op(op, case.input(40, 2, low=-4.0, high=1.0))
    stays("pointwise_after_max", case, case.op("amax", activated, [1], False))


def test_a_negative_slope_falls():
    case = Case()
    activated = case.op("leaky_relu", case.input(3, 9, high=0.0), -0.5)
    stays("pointwise_after_max", case, case.op("amax", activated, [1], False))


def test_a_softplus_that_becomes_linear_early_falls_there():
    case = Case()
    activated = case.op("softplus", case.input(3, 9), 1, 1)
    forbids("pointwise_after_max", case, case.op("amax", activated, [1], False))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_two_max_pools_are_one(rank, seed):
    case = Case(seed)
    kernel = [case.size(1, 3) for _ in range(rank)]
    stride = [case.size(1, each) for each in kernel]
    x = case.input(2, *(case.size(9, 11) for _ in range(rank)))
    x = case.op("unsqueeze", x, 0)
    inner = case.op(f"max_pool{rank}d", x, kernel, stride)
    window = [min(case.size(1, 3), size) for size in case.value(inner).shape[2:]]
    outer = case.op(f"max_pool{rank}d", inner, window, [case.size(1, 3)] * rank)
    made = fires("pool_of_pool", case, outer)
    assert len(made.nodes) == 2


def test_two_average_pools_that_tile_are_one():
    case = Case()
    inner = case.op("avg_pool2d", case.input(2, 3, 13, 12), [2, 3], [2, 3])
    made = fires("pool_of_pool", case, case.op("avg_pool2d", inner, [2, 2], [1, 2]))
    assert len(made.nodes) == 1


def test_pools_that_leave_gaps_or_overlap_are_two():
    case = Case()
    inner = case.op("max_pool1d", case.input(2, 3, 20), [1], [3])
    stays("pool_of_pool", case, case.op("max_pool1d", inner, [2], [2]))
    case = Case()
    inner = case.op("avg_pool1d", case.input(2, 3, 12), [3], [2])
    stays("pool_of_pool", case, case.op("avg_pool1d", inner, [2], [2]))
    case = Case()
    inner = case.op("avg_pool1d", case.input(2, 3, 12), [2], [2])
    stays("pool_of_pool", case, case.op("max_pool1d", inner, [2], [2]))


@pytest.mark.parametrize("op", ["sum", "mean", "amax", "amin", "logsumexp"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_two_folds_are_one(op, keepdim):
    case = Case()
    inner = case.op(op, case.input(2, 3, 4, 5), [1, 3], keepdim)
    made = fires("fold_of_fold", case, case.op(op, inner, [-2 if keepdim else -1], False))
    assert [each for each in ops(made) if each != "view"] == [op]


def test_folds_of_two_kinds_are_two():
    case = Case()
    inner = case.op("mean", case.input(2, 3, 4), [2], False)
    stays("fold_of_fold", case, case.op("sum", inner, [1], False))
