"""Readers of single operators, for patterns: what is folded, shifted, scaled, pooled."""

import math
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.shapes import reduced_axes
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.algebra.signature import spread
from xeforge.fusion.algebra.taps import Slide
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

FOLDS = frozenset({"sum", "mean", "prod", "amax", "amin", "max", "min", "logsumexp"})
"""Reductions to one value each."""

AVERAGES = frozenset({"sum", "mean"})
EXTREMA = frozenset({"amax", "amin", "max", "min"})


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction over axes; a pool whose one window is everything is the mean.

    Attributes:
        node: Which.
        op: What it does; a name of `FOLDS`.
        source: What is reduced.
        axes: Folded ones, ascending.
        keepdim: Whether they stay as size 1.
        count: Elements of one fold.
    """

    node: Node
    op: str
    source: Ref
    axes: tuple[int, ...]
    keepdim: bool
    count: int


def fold_of(scene: Scene, node: Node) -> Fold | None:
    """Read a reduction to one value; positions of extrema are none."""
    source = scene.source(node)
    if source is None or node.index not in {None, 0}:
        return None
    args, shape = bound(node), scene.shape(source)
    if _is_whole_average(scene, node):
        rank = int(node.op[-2])
        axes = tuple(range(len(shape) - rank, len(shape)))
        return Fold(node, "mean", source, axes, True, math.prod(shape[each] for each in axes))
    if node.op not in FOLDS:
        return None
    axes = reduced_axes(args, len(shape))
    count = math.prod(shape[each] for each in axes)
    return Fold(node, node.op, source, axes, bool(args.get("keepdim")), count)


def _is_whole_average(scene: Scene, node: Node) -> bool:
    if node.op.startswith("adaptive_avg_pool"):
        return set(node.shape[len(node.shape) - int(node.op[-2]) :]) == {1}
    pool = pool_of(scene, node) if node.op.startswith("avg_pool") else None
    if pool is None or not pool.is_plain:
        return False
    return pool.kernel == scene.shape(pool.source)[len(node.shape) - pool.rank :]


def refold(builder: Builder, fold: Fold, value: Ref, dtype: str | None = None) -> Ref:
    """Apply a reduction to another value of the same shape."""
    named: dict[str, Arg] = {}
    if fold.op in AVERAGES and dtype not in {None, builder.dtype(value)}:
        named["dtype"] = dtype
    # `max` and `min` answer positions as well, which nobody reads here.
    op = f"a{fold.op}" if fold.op in {"max", "min"} else fold.op
    axes: Arg = fold.axes if op != "prod" else fold.axes[0]
    return builder.op(op, value, axes, fold.keepdim, dtype=dtype, named=named)


def without_axes(
    builder: Builder, value: Arg, rank: int, axes: tuple[int, ...], *, keepdim: bool
) -> Arg:
    """Lay out an operand, constant along axes, for a result that has lost them."""
    if not isinstance(value, Ref) or keepdim:
        return value
    shape = builder.shape(value)
    lead = rank - len(shape)
    left = tuple(size for place, size in enumerate(shape) if place + lead not in axes)
    return builder.view(value, left)


@dataclass(frozen=True, slots=True)
class Step:
    """An addition or a multiplication seen as acting on one of its operands.

    Attributes:
        node: Which.
        kind: What it does to `main`.
        main: The operand that has the shape and dtype of the result.
        other: What is added or multiplied.
        is_inverse: It is subtracted, or divided by.
    """

    node: Node
    kind: Literal["shift", "scale"]
    main: Ref
    other: Arg
    is_inverse: bool

    def again(self, builder: Builder, main: Ref, other: Arg, dtype: str | None = None) -> Ref:
        """Do the same to another value, with another operand."""
        ops = {("shift", False): "add", ("shift", True): "sub", ("scale", False): "mul"}
        return builder.op(ops.get((self.kind, self.is_inverse), "div"), main, other, dtype=dtype)


def steps_of(scene: Scene, node: Node) -> Iterator[Step]:
    """Yield the readings of a node as a step: two, where both operands could be the main one."""
    if node.op not in {"add", "sub", "mul", "div"}:
        return
    args = bound(node)
    left, right = args.get("self"), args.get("other")
    if args.get("alpha", 1) != 1 or args.get("rounding_mode") is not None:
        return
    kind: Literal["shift", "scale"] = "shift" if node.op in {"add", "sub"} else "scale"
    pairs = [(left, right)]
    if node.op in {"add", "mul"}:
        pairs.append((right, left))
    for main, other in pairs:
        is_main = isinstance(main, Ref) and scene.shape(main) == node.shape
        if is_main and isinstance(main, Ref) and scene.dtype(main) == node.dtype:
            yield Step(node, kind, main, other, node.op in {"sub", "div"})


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool over windows.

    Attributes:
        node: Which.
        kind: Largest or average.
        source: What is pooled.
        rank: Spatial axes, which come last.
        kernel, stride, padding, dilation: One per spatial axis.
        is_plain: Nothing is padded, dilated or rounded up, no divisor is given.
    """

    node: Node
    kind: Literal["max", "avg"]
    source: Ref
    rank: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    is_plain: bool


def pool_of(scene: Scene, node: Node) -> Pool | None:
    """Read a pool with a window; adaptive ones have none here."""
    source = scene.source(node)
    is_pool = FAMILIES.get(node.op) is Family.POOL and not node.op.startswith("adaptive")
    if not is_pool or source is None or node.index not in {None, 0}:
        return None
    args, rank = bound(node), int(node.op[-2])
    kernel = spread(args.get("kernel_size"), rank, 1)
    stride = spread(args["stride"], rank, 1) if args.get("stride") else kernel
    padding, dilation = spread(args.get("padding"), rank, 0), spread(args.get("dilation"), rank, 1)
    is_plain = not any(padding) and set(dilation) == {1} and not args.get("ceil_mode")
    is_plain = is_plain and args.get("divisor_override") is None
    kind: Literal["max", "avg"] = "max" if node.op.startswith("max") else "avg"
    return Pool(node, kind, source, rank, kernel, stride, padding, dilation, is_plain)


@dataclass(frozen=True, slots=True)
class Affine:
    """A linear layer or a convolution: a product with a weight, then a bias.

    Attributes:
        node: Which.
        source, weight: Operands.
        bias: Added along the features, if it has one.
        features: How many.
        axis: The results' axis of features.
        weight_axis: The weight's axis of features; within a group for transposed convolutions.
        groups: Of a convolution.
    """

    node: Node
    source: Ref
    weight: Ref
    bias: Ref | None
    features: int
    axis: int
    weight_axis: int
    groups: int

    def again(
        self,
        builder: Builder,
        *,
        source: Ref | None = None,
        weight: Ref | None = None,
        bias: Ref | None = None,
        dtype: str | None = None,
    ) -> Ref:
        """Apply it with other operands; the bias is left out unless it is given."""
        return builder.again(
            self.node, dtype, input=source or self.source, weight=weight or self.weight, bias=bias
        )


def affine_of(_: Scene, node: Node | None) -> Affine | None:
    """Read a linear layer or a convolution."""
    if node is None or (node.op != "linear" and FAMILIES.get(node.op) is not Family.CONVOLUTION):
        return None
    args = bound(node)
    source, weight, bias = args.get("input"), args.get("weight"), args.get("bias")
    groups = args.get("groups", 1)
    if not isinstance(source, Ref) or not isinstance(weight, Ref) or not isinstance(groups, int):
        return None
    axis = len(node.shape) - 1 if node.op == "linear" else 1
    own = bias if isinstance(bias, Ref) else None
    weight_axis = 1 if "transpose" in node.op else 0
    return Affine(node, source, weight, own, node.shape[axis], axis, weight_axis, groups)


@dataclass(frozen=True, slots=True)
class Window:
    """Numbers of a convolution, one per spatial axis."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def slide(self, kernel: Sequence[int], place: int) -> Slide:
        """Return how it slides over one spatial axis."""
        return Slide(kernel[place], self.stride[place], self.padding[place], self.dilation[place])


def window_of(affine: Affine) -> Window | None:
    """Read the window of a convolution; None where its padding is given by name."""
    args, rank = bound(affine.node), int(affine.node.op[-2])
    if isinstance(args.get("padding"), str):
        return None
    return Window(
        spread(args.get("stride"), rank, 1),
        spread(args.get("padding"), rank, 0),
        spread(args.get("dilation"), rank, 1),
    )


@dataclass(frozen=True, slots=True)
class Norm:
    """An operator that subtracts statistics of its operand: a norm or a softmax.

    Attributes:
        node: Which.
        source: What is normalised.
        axes: What statistics are taken over; a shift constant along them changes nothing.
    """

    node: Node
    source: Ref
    axes: frozenset[int]


def norm_of(scene: Scene, node: Node | None) -> Norm | None:
    """Read a norm by the statistics of its operand, or a softmax."""
    if node is None or FAMILIES.get(node.op) not in {Family.NORM, Family.SOFTMAX}:
        return None
    source, axes = scene.source(node), _normalised_axes(node)
    return None if source is None or axes is None else Norm(node, source, axes)


def _normalised_axes(node: Node) -> frozenset[int] | None:
    """Return what statistics are taken over; None where they are given."""
    args, rank = bound(node), len(node.shape)
    axes = frozenset(range(rank))
    if "softmax" in node.op:
        return frozenset({integers(args["dim"])[0] % rank})
    if node.op in {"layer_norm", "rms_norm"}:
        return frozenset(weight_axes(node))
    if node.op == "group_norm":
        each_alone = integers(args["num_groups"])[0] == node.shape[1]
        return axes - ({0, 1} if each_alone else {0})
    takes_own = args.get("training" if node.op == "batch_norm" else "use_input_stats")
    return (axes - ({1} if node.op == "batch_norm" else {0, 1})) if takes_own else None


def weight_axes(node: Node) -> tuple[int, ...]:
    """Return the axes of a norm's result along which its weight and bias lie."""
    if node.op in {"layer_norm", "rms_norm"}:
        count, rank = len(integers(bound(node)["normalized_shape"])), len(node.shape)
        return tuple(range(rank - count, rank))
    return (1,)


def spans(scene: Scene, value: Arg, rank: int) -> frozenset[int]:
    """Return the axes of a result along which an operand has more than one element."""
    shape = scene.shape(value)
    lead = rank - len(shape)
    return frozenset(place + lead for place, size in enumerate(shape) if size > 1)


def axes_text(axes: object) -> str:
    """Return axes in words."""
    named = ", ".join(map(str, sorted(axes))) if isinstance(axes, tuple | frozenset | set) else ""
    return f"axes {named}" if "," in named else f"axis {named}"
