"""Reductions and average pools of products, against Torch in float64."""

import pytest

from tests.xeforge.fusion.algebra.cases import SEEDS
from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import fires
from tests.xeforge.fusion.algebra.cases import forbids
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.cases import stays


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("op", ["sum", "mean", "amax", "amin", "logsumexp"])
def test_a_fold_of_one_element_is_the_element(op, keepdim):
    case = Case()
    x = case.input(3, 1, 4, 1)
    made = fires("fold_of_one", case, case.op(op, x, [1, 3], keepdim))
    assert op not in ops(made)


def test_a_maximum_over_one_element_too():
    case = Case()
    x = case.input(3, 1)
    fires("fold_of_one", case, case.op("max", x, 1, True, index=0))


def test_a_fold_of_two_elements_is_not():
    case = Case()
    stays("fold_of_one", case, case.op("sum", case.input(3, 2), [1], False))


@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("seed", range(8))
def test_fold_of_linear(op, seed):
    case = Case(seed)
    lead, inner, features = case.sizes(case.choice.randint(1, 2)), case.size(), case.size()
    x, w = case.input(*lead, inner), case.parameter(features, inner)
    linear = case.op("linear", x, w, *case.maybe(features))
    axes = case.some(range(len(lead) + 1))
    made = fires("fold_through_linear", case, case.op(op, linear, axes, case.choice.random() < 0.5))
    (left,) = (each for each in made.nodes if each.op == "linear")
    assert len(axes) == sum(size == 1 for size in left.shape)


def test_the_maximum_of_a_linear_layer_stays():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(5, 4))
    stays("fold_through_linear", case, case.op("amax", linear, [1], False))


@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("seed", range(8))
def test_fold_of_product(op, seed):
    case = Case(seed)
    batch, (rows, inner, columns) = case.sizes(case.choice.randint(0, 2)), case.sizes(3)
    is_shared = case.choice.random() < 0.5
    x = case.input(*batch, rows, inner)
    y = case.parameter(*(batch if is_shared else []), inner, columns)
    rank = len(batch) + 2
    axes = case.some(range(rank - 2 if is_shared else 0, rank))
    product = case.op("matmul", x, y)
    fires("fold_through_product", case, case.op(op, product, axes, case.choice.random() < 0.5))


@pytest.mark.parametrize("op", ["mm", "bmm"])
def test_fold_of_other_products(op):
    case = Case()
    batch = [2] if op == "bmm" else []
    product = case.op(op, case.input(*batch, 3, 4), case.input(*batch, 4, 5))
    fires("fold_through_product", case, case.op("mean", product, [-1], True))


def test_a_batch_of_both_operands_is_not_split():
    case = Case()
    product = case.op("bmm", case.input(2, 3, 4), case.input(2, 4, 5))
    stays("fold_through_product", case, case.op("sum", product, [0], False))


def test_the_minimum_of_a_product_stays():
    case = Case()
    product = case.op("mm", case.input(3, 4), case.input(4, 5))
    stays("fold_through_product", case, case.op("amin", product, [1], False))


def convolution(case, rank, *, is_transposed, groups=1, dilation=None):
    inputs, outputs = groups * case.size(1, 2), groups * case.size(1, 3)
    kernel = [case.size(1, 3) for _ in range(rank)]
    stride = [case.size(1, 3) for _ in range(rank)]
    padding = [case.choice.randint(0, (each - 1) // 2) for each in kernel]
    dilation = dilation or [case.size(1, 2) for _ in range(rank)]
    x = case.input(2, inputs, *(case.size(6, 8) for _ in range(rank)))
    bias = case.parameter(outputs) if case.choice.random() < 0.5 else None
    if is_transposed:
        more = [
            case.choice.randint(0, max(a, b) - 1) for a, b in zip(stride, dilation, strict=True)
        ]
        w = case.parameter(inputs, outputs // groups, *kernel)
        rest = stride, padding, more, groups, dilation
        return case.op(f"conv_transpose{rank}d", x, w, bias, *rest)
    w = case.parameter(outputs, inputs // groups, *kernel)
    return case.op(f"conv{rank}d", x, w, bias, stride, padding, dilation, groups)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_fold_of_convolution(rank, is_transposed, seed):
    case = Case(seed)
    groups = case.choice.choice((1, 1, 2))
    conv = convolution(case, rank, is_transposed=is_transposed, groups=groups)
    axes = case.some([0, *([1] if groups == 1 else []), *range(2, rank + 2)])
    op = case.choice.choice(("sum", "mean"))
    keepdim = case.choice.random() < 0.5
    made = fires("fold_through_convolution", case, case.op(op, conv, axes, keepdim))
    assert not {"conv", "linear"}.isdisjoint(
        {each.split("_")[0].rstrip("123d") for each in ops(made)}
    )


def test_a_pool_of_everything_is_a_mean():
    case = Case()
    conv = case.op("conv2d", case.input(2, 3, 6, 6), case.parameter(4, 3, 3, 3))
    made = fires("fold_through_convolution", case, case.op("adaptive_avg_pool2d", conv, [1, 1]))
    assert "adaptive_avg_pool2d" not in ops(made)
    case = Case()
    conv = case.op("conv2d", case.input(2, 3, 6, 6), case.parameter(4, 3, 3, 3))
    fires("fold_through_convolution", case, case.op("avg_pool2d", conv, [4, 4], [4, 4]))


def test_a_mean_over_depth_leaves_a_convolution_over_the_plane():
    case = Case()
    args = (case.input(2, 3, 5, 4, 4), case.parameter(3, 2, 3, 3, 3), case.parameter(2))
    conv = case.op("conv_transpose3d", *args, [1, 1, 1], [1, 1, 1])
    made = fires("fold_through_convolution", case, case.op("mean", conv, [2], True))
    assert "conv_transpose2d" in ops(made)
    assert "conv_transpose3d" not in ops(made)


def test_the_maximum_of_a_convolution_stays():
    case = Case()
    conv = case.op("conv2d", case.input(2, 3, 6, 6), case.parameter(4, 3, 3, 3))
    stays("fold_through_convolution", case, case.op("amax", conv, [2, 3], False))


def test_channels_of_two_groups_are_not_summed():
    case = Case()
    x, w = case.input(2, 4, 6), case.parameter(6, 2, 3)
    conv = case.op("conv1d", x, w, None, [1], [0], [1], 2)
    forbids("fold_through_convolution", case, case.op("sum", conv, [1], False))


def test_a_tap_that_meets_padding_only_is_left_alone():
    case = Case()
    conv = case.op("conv1d", case.input(1, 1, 1), case.parameter(1, 1, 3), None, [3], [1])
    forbids("fold_through_convolution", case, case.op("sum", conv, [2], False))


@pytest.mark.parametrize("seed", SEEDS)
def test_pool_of_linear(seed):
    case = Case(seed)
    features = case.size(6, 9)
    x, w = case.input(3, 4), case.parameter(features, 4)
    linear = case.op("linear", x, w, *case.maybe(features))
    lifted = case.op("unsqueeze", linear, 1) if case.choice.random() < 0.6 else linear
    padding = case.choice.randint(0, 1)
    pooled = case.op("avg_pool1d", lifted, [3], [2], [padding], False, case.choice.random() < 0.5)
    fires("pool_through_linear", case, pooled)


def test_a_max_pool_of_a_linear_layer_stays():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(6, 4))
    stays("pool_through_linear", case, case.op("max_pool1d", linear, [2], [2]))


def test_a_pool_over_a_new_axis_stays():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(6, 4))
    lifted = case.op("unsqueeze", linear, 2)
    forbids("pool_through_linear", case, case.op("avg_pool1d", lifted, [1], [1]))


@pytest.mark.parametrize("seed", SEEDS)
def test_pool_of_convolution(seed):
    case = Case(seed)
    rank, groups = case.choice.choice((1, 2, 3)), case.choice.choice((1, 2))
    x = case.input(2, 2 * groups, *(case.size(6, 8) for _ in range(rank)))
    w = case.parameter(groups, 2, *(case.size(1, 3) for _ in range(rank)))
    padding = [case.choice.randint(0, 1) for _ in range(rank)]
    conv = case.op(f"conv{rank}d", x, w, None, [1] * rank, padding, [1] * rank, groups)
    kernel, stride = [case.size(2, 3) for _ in range(rank)], [case.size(1, 3) for _ in range(rank)]
    made = fires(
        "pool_through_convolution", case, case.op(f"avg_pool{rank}d", conv, kernel, stride)
    )
    assert made.nodes[-1].op == f"conv{rank}d"


@pytest.mark.parametrize("rank", [1, 2])
def test_a_max_pool_of_a_convolution_stays(rank):
    for name, op in (
        ("pool_through_convolution", f"conv{rank}d"),
        ("pool_through_transposed", f"conv_transpose{rank}d"),
    ):
        case = Case(rank)
        conv = case.op(op, case.input(2, 3, *[6] * rank), case.parameter(3, 3, *[3] * rank))
        stays(name, case, case.op(f"max_pool{rank}d", conv, [2] * rank, [2] * rank))


def test_padded_pools_and_long_strides_are_left_alone():
    for pool, stride in (([2], [2], [1]), [1]), (([2], [2], [0]), [2]):
        case = Case()
        conv = case.op("conv1d", case.input(2, 3, 9), case.parameter(3, 3, 3), None, stride)
        forbids("pool_through_convolution", case, case.op("avg_pool1d", conv, *pool))


@pytest.mark.parametrize("seed", range(12))
def test_pool_of_transposed(seed):
    case = Case(seed)
    rank = case.choice.choice((1, 2, 3))
    kernel = [case.size(1, 5) for _ in range(rank)]
    stride = [case.size(1, 3) for _ in range(rank)]
    padding = [case.choice.randint(0, each - 1) for each in kernel]
    more = [case.choice.randint(0, each - 1) for each in stride]
    x = case.input(2, 2, *(case.size(4, 6) for _ in range(rank)))
    bias = case.parameter(3) if seed % 2 else None
    args = (x, case.parameter(2, 3, *kernel), bias, stride, padding, more)
    conv = case.op(f"conv_transpose{rank}d", *args)
    steps = [each * case.size(1, 2) for each in stride]
    window = [min(case.size(1, 4), out) for out in case.value(conv).shape[2:]]
    made = fires("pool_through_transposed", case, case.op(f"avg_pool{rank}d", conv, window, steps))
    assert f"conv{rank}d" in ops(made)
    assert f"conv_transpose{rank}d" not in ops(made)


def test_a_pool_that_steps_beside_the_lattice_stays():
    case = Case()
    conv = case.op("conv_transpose1d", case.input(2, 2, 6), case.parameter(2, 3, 3), None, [2])
    forbids("pool_through_transposed", case, case.op("avg_pool1d", conv, [3], [3]))
