"""Sums, means and average pools through products: the operand is reduced, not the result."""

import math
from collections.abc import Iterator

from xeforge.fusion.algebra import convolution_sums
from xeforge.fusion.algebra import pooled_products
from xeforge.fusion.algebra import read
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.read import Affine
from xeforge.fusion.algebra.read import Fold
from xeforge.fusion.algebra.rule import Condition
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

_MATRIX = 2
_PRODUCTS = frozenset({"matmul", "mm", "bmm"})


def _folds(scene: Scene, node: Node) -> Iterator[Found]:
    """Any reduction to one value."""
    fold = read.fold_of(scene, node)
    if fold is not None:
        yield Found(node, (), {"fold": fold})


def _folded_linear(scene: Scene, node: Node) -> Iterator[Found]:
    """A reduction of a linear layer."""
    yield from _folded_affine(scene, node, is_linear=True)


def _folded_convolution(scene: Scene, node: Node) -> Iterator[Found]:
    """A reduction of a convolution, transposed or not."""
    yield from _folded_affine(scene, node, is_linear=False)


def _folded_affine(scene: Scene, node: Node, *, is_linear: bool) -> Iterator[Found]:
    fold = read.fold_of(scene, node)
    affine = read.affine_of(scene, scene.node(fold.source)) if fold else None
    if affine is not None and (affine.node.op == "linear") == is_linear:
        yield Found(node, (affine.node,), {"fold": fold, "affine": affine})


def _folded_product(scene: Scene, node: Node) -> Iterator[Found]:
    """A reduction of a product of matrices."""
    fold = read.fold_of(scene, node)
    product = scene.node(fold.source) if fold else None
    if product is None or product.op not in _PRODUCTS:
        return
    args = bound(product)
    left, right = args.get("self"), args.get("other", args.get("mat2"))
    if min(len(scene.shape(left)), len(scene.shape(right))) >= _MATRIX:
        yield Found(node, (product,), {"fold": fold, "left": left, "right": right})


def _is_average(_: Scene, found: Found) -> str | None:
    op = found["fold"].op
    return f"{op} is linear" if op in read.AVERAGES else None


def _is_linear_in_operands(scene: Scene, found: Found) -> str | None:
    affine: Affine = found["affine"]
    known = scene.facts[affine.node.name].linear_in
    names = [each.name for each in (affine.source, affine.weight) if each.name in known]
    return f"linear in {' and '.join(names)}" if len(names) == 2 else None  # noqa: PLR2004


def _all_of_size_one(scene: Scene, found: Found) -> str | None:
    fold: Fold = found["fold"]
    ones = scene.of(fold.source).ones | (
        frozenset(place for place, size in enumerate(scene.shape(fold.source)) if size == 1)
    )
    return f"{read.axes_text(fold.axes)} of size 1" if set(fold.axes) <= ones else None


def _keeps_dtype(scene: Scene, found: Found) -> str | None:
    fold: Fold = found["fold"]
    dtype = scene.dtype(fold.source)
    return f"{dtype} before and after" if dtype == found.root.dtype else None


def _take_the_one(builder: Builder, found: Found) -> Ref:
    """``reduce(x) = x`` where each fold has one element."""
    fold: Fold = found["fold"]
    value = fold.source
    for axis in reversed(fold.axes):
        if builder.shape(value)[axis] > 1 or not fold.keepdim:
            value = builder.op("select", value, axis, 0)
            value = builder.op("unsqueeze", value, axis) if fold.keepdim else value
    return value


def _fold_of_linear(builder: Builder, found: Found) -> Ref:
    """``sum(x @ w.T + b) = sum_rows(x) @ sum_features(w).T + rows * sum(b)``."""
    fold, affine = found["fold"], found["affine"]
    rows = tuple(each for each in fold.axes if each != affine.axis)
    op, bias = fold.op, affine.bias
    weight, dtype = affine.weight, builder.operand_dtype(op, affine.source)
    source = builder.fold(op, affine.source, rows, dtype)
    if affine.axis in fold.axes:
        weight = builder.fold(op, weight, (0,))
        bias = bias and builder.fold(op, bias, (0,))
    count = math.prod(builder.shape(affine.source)[each] for each in rows)
    if op == "sum" and bias is not None:
        bias = builder.times(bias, count)
    result = affine.again(builder, source=source, weight=weight, bias=bias)
    return builder.view(result, found.root.shape)


def _splits(scene: Scene, found: Found) -> str | None:
    """Each reduced axis must belong to one operand alone."""
    fold: Fold = found["fold"]
    rank = len(scene.shape(fold.source))
    for axis in fold.axes:
        if axis < rank - _MATRIX and all(
            _batch_size(scene.shape(found[each]), axis, rank) > 1 for each in ("left", "right")
        ):
            return None
    return f"no operand shares {read.axes_text(fold.axes)} with the other"


def _batch_size(shape: tuple[int, ...], axis: int, rank: int) -> int:
    own = axis - (rank - len(shape))
    return shape[own] if own >= 0 else 1


def _fold_of_product(builder: Builder, found: Found) -> Ref:
    """``sum_j (a @ b)_ij = a @ sum_j b_j``, and so for rows and for batches of one operand."""
    fold: Fold = found["fold"]
    rank = len(builder.shape(fold.source))
    sides = []
    for name, own in (("left", rank - 2), ("right", rank - 1)):
        shape = builder.shape(found[name])
        lead = rank - len(shape)
        mine = tuple(
            axis - lead
            for axis in fold.axes
            if axis == own or (lead <= axis < rank - 2 and shape[axis - lead] > 1)
        )
        sides.append(builder.fold(fold.op, found[name], mine))
    result = builder.op(found.inner[0].op, *sides)
    return builder.view(result, found.root.shape)


_LINEAR = Condition("the reduction is a sum or a mean", _is_average)
_IN_OPERANDS = Condition("what is reduced is linear in input and weight", _is_linear_in_operands)

RULES = (
    Rule(
        name="fold_of_one",
        group="distribution",
        identity="reduce(x) = x over axes of size 1; infinities and NaN stay as they are",
        pattern=_folds,
        guard=(
            Condition("every reduced axis has size 1", _all_of_size_one),
            Condition("the dtype stays", _keeps_dtype),
        ),
        replacement=_take_the_one,
    ),
    Rule(
        name="fold_through_linear",
        group="distribution",
        identity="sum(x @ w.T + b) = sum_rows(x) @ sum_features(w).T + rows * sum(b); so for "
        "means. An infinity meets sums of weights and not each weight: inf may be where NaN was, "
        "or the other way round",
        pattern=_folded_linear,
        guard=(_LINEAR, _IN_OPERANDS),
        replacement=_fold_of_linear,
    ),
    Rule(
        name="fold_through_product",
        group="distribution",
        identity="sum_j (a @ b)_ij = a @ sum_j b_j, and so for rows, for batches of one operand, "
        "and for means; infinities as in fold_through_linear",
        pattern=_folded_product,
        guard=(_LINEAR, Condition("each reduced axis is one operand's", _splits)),
        replacement=_fold_of_product,
    ),
    Rule(
        name="pool_through_linear",
        group="distribution",
        identity="avg_pool(x @ w.T + b) = x @ avg_pool(w).T + avg_pool(b) along the features; "
        "infinities as in fold_through_linear",
        pattern=pooled_products.pooled_linear,
        guard=(
            Condition("the pool averages", pooled_products.averages),
            Condition("the pooled axis is that of the features", pooled_products.along_features),
        ),
        replacement=pooled_products.pool_of_linear,
    ),
    Rule(
        name="pool_through_convolution",
        group="distribution",
        identity="avg_pool(conv(x, w)) = conv(x, box(w)) with the pool's stride; infinities as in "
        "fold_through_linear",
        pattern=pooled_products.pooled_convolution,
        guard=(
            Condition("the pool averages", pooled_products.averages),
            Condition("every window of the pool is whole", pooled_products.whole_windows),
            Condition("the convolution has stride and dilation 1", pooled_products.steps_of_one),
        ),
        replacement=pooled_products.pool_of_convolution,
    ),
    Rule(
        name="pool_through_transposed",
        group="distribution",
        identity="avg_pool(conv_transpose(x, w)) = conv(x, v), where v_r is the sum of the taps "
        "that bring x_(i+r) to window i; infinities as in fold_through_linear",
        pattern=pooled_products.pooled_transposed,
        guard=(
            Condition("the pool averages", pooled_products.averages),
            Condition("every window of the pool is whole", pooled_products.whole_windows),
            Condition("one group and dilation 1", pooled_products.one_group),
            Condition(
                "the pool's stride is a multiple of the convolution's",
                pooled_products.strides_divide,
            ),
        ),
        replacement=pooled_products.pool_of_transposed,
    ),
    Rule(
        name="fold_through_convolution",
        group="distribution",
        identity="sum_p conv(x, w)_p = sum_t w_t * (sum of x where tap t lands in the result), "
        "transposed or not; so for means, channels and batch; infinities as in "
        "fold_through_linear",
        pattern=_folded_convolution,
        guard=(
            _LINEAR,
            _IN_OPERANDS,
            Condition("summed channels are of one group", convolution_sums.features_in_one_group),
            Condition("each tap meets the input", convolution_sums.taps_meet_the_input),
        ),
        replacement=convolution_sums.fold_of_convolution,
    ),
)
