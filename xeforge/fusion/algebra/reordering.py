"""Pointwise operators go behind what makes tensors smaller; two folds or pools become one."""

import math
from collections.abc import Iterator

from xeforge.fusion.algebra import read
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.read import Fold
from xeforge.fusion.algebra.read import Pool
from xeforge.fusion.algebra.read import Step
from xeforge.fusion.algebra.rule import Condition
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

_NEVER_FALLING = frozenset(
    """
    relu relu6 hardtanh hardsigmoid clamp clamp_min clamp_max sigmoid tanh erf exp exp2 expm1
    softplus log_sigmoid elu celu selu leaky_relu sqrt log log1p floor ceil
    """.split()  # noqa: SIM905 - a list of words
)
_SLOPES = frozenset({"alpha", "scale", "input_scale", "negative_slope", "beta"})


def _folded_step(scene: Scene, node: Node) -> Iterator[Found]:
    """A reduction of a sum or product."""
    fold = read.fold_of(scene, node)
    inner = scene.node(fold.source) if fold else None
    for step in read.steps_of(scene, inner) if inner else ():
        yield Found(node, (step.node,), {"fold": fold, "step": step})


def _pooled_step(scene: Scene, node: Node) -> Iterator[Found]:
    """A pool of a sum or product."""
    pool = read.pool_of(scene, node)
    inner = scene.node(pool.source) if pool else None
    for step in read.steps_of(scene, inner) if inner else ():
        yield Found(node, (step.node,), {"pool": pool, "step": step})


def _largest_of_pointwise(scene: Scene, node: Node) -> Iterator[Found]:
    """A max pool, maximum or minimum over axes of an operator with one operand."""
    pool, fold = read.pool_of(scene, node), read.fold_of(scene, node)
    if pool is not None and pool.kind == "max":
        source, axes = pool.source, tuple(range(len(node.shape) - pool.rank, len(node.shape)))
    elif fold is not None and fold.op in read.EXTREMA:
        source, axes = fold.source, fold.axes
    else:
        return
    inner = scene.node(source)
    if inner is None or FAMILIES.get(inner.op) is not Family.POINTWISE:
        return
    value = scene.source(inner)
    if value is not None and inner.reads() == (value.name,) and scene.dtype(value) == inner.dtype:
        yield Found(node, (inner,), {"inner": inner, "value": value, "axes": axes, "fold": fold})


def _two_pools(scene: Scene, node: Node) -> Iterator[Found]:
    """A pool of a pool."""
    outer = read.pool_of(scene, node)
    inner_node = scene.node(outer.source) if outer else None
    inner = read.pool_of(scene, inner_node) if inner_node else None
    if outer and inner and outer.rank == inner.rank:
        yield Found(node, (inner.node,), {"outer": outer, "inner": inner})


def _two_folds(scene: Scene, node: Node) -> Iterator[Found]:
    """A reduction of a reduction."""
    outer = read.fold_of(scene, node)
    inner_node = scene.node(outer.source) if outer else None
    inner = read.fold_of(scene, inner_node) if inner_node else None
    if outer and inner and outer.op != "prod":
        yield Found(node, (inner.node,), {"outer": outer, "inner": inner})


def _is_positive(scene: Scene, step: Step) -> str | None:
    number = scene.number(step.other)
    sign = scene.of(step.other).sign
    if number is not None:
        sign = "positive" if number > 0 else "unknown"
    return f"the factor is {sign}" if sign == "positive" else None


def _passes_fold(scene: Scene, found: Found) -> str | None:
    """Sums and means take any factor, extrema a positive one, log-sum-exp none."""
    fold, step = found["fold"], found["step"]
    if fold.op in read.AVERAGES:
        return f"{fold.op} is linear"
    if fold.op in {*read.EXTREMA, "logsumexp"} and step.kind == "shift":
        return f"{fold.op} moves with a shift"
    return _is_positive(scene, step) if fold.op in read.EXTREMA else None


def _same_in_fold(scene: Scene, found: Found) -> str | None:
    fold, step = found["fold"], found["step"]
    rank = len(step.node.shape)
    if fold.op in read.AVERAGES and step.kind == "shift":
        return f"{fold.op} of a sum is the sum of both"
    if read.spans(scene, step.other, rank) & set(fold.axes):
        return None
    return f"constant along {read.axes_text(fold.axes)}"


def _passes_pool(scene: Scene, found: Found) -> str | None:
    pool, step = found["pool"], found["step"]
    if step.kind == "shift":
        is_whole = pool.kind == "max" or pool.is_plain
        return "no zero is averaged in" if is_whole else None
    return "an average is linear" if pool.kind == "avg" else _is_positive(scene, step)


def _same_in_window(scene: Scene, found: Found) -> str | None:
    pool, step = found["pool"], found["step"]
    rank = len(step.node.shape)
    axes = frozenset(range(rank - pool.rank, rank))
    is_same = not read.spans(scene, step.other, rank) & axes
    return f"constant along {read.axes_text(axes)}" if is_same else None


def _never_falls(_: Scene, found: Found) -> str | None:
    """Slopes must not be negative; limits may be anything.

    A softplus falls where it becomes x itself, by less than rounding at the default threshold only.
    """
    inner: Node = found["inner"]
    if inner.op == "softplus" and "threshold" in bound(inner):
        return None
    numbers = [each for name, each in bound(inner).items() if name in _SLOPES]
    rises = all(isinstance(each, int | float) and each >= 0 for each in numbers)
    return f"{inner.op} never falls" if inner.op in _NEVER_FALLING and rises else None


def _one_kind(_: Scene, found: Found) -> str | None:
    outer, inner = found["outer"], found["inner"]
    names = [each.kind if isinstance(each, Pool) else each.op for each in (outer, inner)]
    names = [each.removeprefix("a") if each.startswith("am") else each for each in names]
    return f"both are {names[0]}" if names[0] == names[1] else None


def _windows_join(_: Scene, found: Found) -> str | None:
    outer, inner = found["outer"], found["inner"]
    if not (outer.is_plain and inner.is_plain):
        return None
    pairs = list(zip(inner.stride, inner.kernel, strict=True))
    if inner.kind == "max" and all(step <= kernel for step, kernel in pairs):
        return "windows leave no gap"
    is_tiling = all(step == kernel for step, kernel in pairs)
    return "inner windows neither overlap nor leave a gap" if is_tiling else None


def _dtype_stays(scene: Scene, found: Found) -> str | None:
    inner: Fold = found["inner"]
    dtypes = {scene.dtype(inner.source), inner.node.dtype, found.root.dtype}
    return f"{dtypes.pop()} throughout" if len(dtypes) == 1 else None


def _step_after_fold(builder: Builder, found: Found) -> Ref:
    """``sum(s * x + v) = s * sum(x) + sum(v)``; ``max(x + v) = max(x) + v``."""
    fold: Fold = found["fold"]
    step: Step = found["step"]
    rank, other = len(step.node.shape), step.other
    if fold.op in read.AVERAGES and step.kind == "shift":
        other = _folded_operand(builder, fold, other, rank)
    other = read.without_axes(builder, other, rank, fold.axes, keepdim=fold.keepdim)
    wide = builder.root.dtype if fold.op in read.EXTREMA else builder.wide
    return step.again(builder, read.refold(builder, fold, step.main, wide), other)


def _folded_operand(builder: Builder, fold: Fold, other: Arg, rank: int) -> Arg:
    """Sum or average what is added, which may be the same along some of the axes."""
    shape = builder.shape(other)
    lead = rank - len(shape)
    own = [each - lead for each in fold.axes if each >= lead and shape[each - lead] > 1]
    count = fold.count // math.prod(shape[each] for each in own)
    if not isinstance(other, Ref):
        number = other if isinstance(other, int | float) else 0
        return number * count if fold.op == "sum" else number
    folded = builder.fold(fold.op, other, own)
    return builder.times(folded, count) if fold.op == "sum" else folded


def _step_after_pool(builder: Builder, found: Found) -> Ref:
    """``pool(s * x + v) = s * pool(x) + v``."""
    pool: Pool = found["pool"]
    step: Step = found["step"]
    wide = builder.root.dtype if pool.kind == "max" else builder.wide
    return step.again(builder, builder.again(pool.node, wide, self=step.main), step.other)


def _pointwise_after(builder: Builder, found: Found) -> Ref:
    """``max(f(x)) = f(max(x))`` for f that never falls."""
    inner: Node = found["inner"]
    fold: Fold | None = found["fold"]
    if fold is None:
        least = builder.again(found.root, inner.dtype, self=found["value"])
    else:
        least = read.refold(builder, fold, found["value"], inner.dtype)
    return builder.again(inner, None, self=least)


def _one_pool(builder: Builder, found: Found) -> Ref:
    """``pool(pool(x; k, s); k', s') = pool(x; (k' - 1) * s + k, s * s')``."""
    outer, inner = found["outer"], found["inner"]
    kernel = tuple(
        (tap - 1) * step + own
        for tap, step, own in zip(outer.kernel, inner.stride, inner.kernel, strict=True)
    )
    stride = tuple(a * b for a, b in zip(outer.stride, inner.stride, strict=True))
    return builder.op(outer.node.op, inner.source, kernel, stride)


def _one_fold(builder: Builder, found: Found) -> Ref:
    """``sum(sum(x)) = sum(x)`` over all axes of both."""
    outer, inner = found["outer"], found["inner"]
    rank = len(builder.shape(inner.source))
    kept = [each for each in range(rank) if inner.keepdim or each not in inner.axes]
    axes = {*inner.axes, *(kept[each] for each in outer.axes)}
    op = f"a{outer.op}" if outer.op in {"max", "min"} else outer.op
    result = builder.op(op, inner.source, tuple(sorted(axes)), True)
    return builder.view(result, found.root.shape)


RULES = (
    Rule(
        name="step_after_fold",
        group="reordering",
        identity="sum(s * x + v) = s * sum(x) + sum(v), max(x + v) = max(x) + v, "
        "max(s * x) = s * max(x) for s > 0, logsumexp(x + v) = logsumexp(x) + v; an infinity of s "
        "meets the sum and not each term",
        pattern=_folded_step,
        guard=(
            Condition("the reduction lets it pass", _passes_fold),
            Condition("it is the same for all elements of a fold, or is summed", _same_in_fold),
        ),
        replacement=_step_after_fold,
    ),
    Rule(
        name="step_after_pool",
        group="reordering",
        identity="avg_pool(s * x + v) = s * avg_pool(x) + v, max_pool likewise for s > 0; an "
        "infinity of s meets the average and not each term",
        pattern=_pooled_step,
        guard=(
            Condition("the pool lets it pass", _passes_pool),
            Condition("it is the same for all elements of a window", _same_in_window),
        ),
        replacement=_step_after_pool,
    ),
    Rule(
        name="pointwise_after_max",
        group="reordering",
        identity="max(f(x)) = f(max(x)) and min(f(x)) = f(min(x)) for f that never falls, pools "
        "included; NaN of f outside its domain may not be met",
        pattern=_largest_of_pointwise,
        guard=(Condition("the function never falls", _never_falls),),
        replacement=_pointwise_after,
    ),
    Rule(
        name="pool_of_pool",
        group="reordering",
        identity="pool(pool(x; k, s); k', s') = pool(x; (k' - 1) * s + k, s * s')",
        pattern=_two_pools,
        guard=(
            Condition("both take the largest, or both average", _one_kind),
            Condition("each element counts alike in the joint window", _windows_join),
        ),
        replacement=_one_pool,
    ),
    Rule(
        name="fold_of_fold",
        group="reordering",
        identity="sum(sum(x)) = sum(x) over all axes of both; so for means, maxima and minima",
        pattern=_two_folds,
        guard=(
            Condition("both fold in the same way", _one_kind),
            Condition("the dtype stays", _dtype_stays),
        ),
        replacement=_one_fold,
    ),
)
