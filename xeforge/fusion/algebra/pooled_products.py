"""Average pools of linear layers and of convolutions: the weights are pooled instead.

Averages of weights lie in the weights' range and keep their dtype.
"""

import math
from collections.abc import Iterator

from xeforge.fusion.algebra import read
from xeforge.fusion.algebra import taps
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.read import Affine
from xeforge.fusion.algebra.read import Pool
from xeforge.fusion.algebra.read import Window
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref


def pooled_linear(scene: Scene, node: Node) -> Iterator[Found]:
    """A pool over one axis of a linear layer, which may have got an axis of size 1."""
    pool = read.pool_of(scene, node)
    inner = scene.node(pool.source) if pool else None
    lifted = inner if inner is not None and inner.op == "unsqueeze" else None
    affine = read.affine_of(scene, scene.node(scene.source(lifted)) if lifted else inner)
    if pool and pool.rank == 1 and affine and affine.node.op == "linear":
        nodes = (affine.node,) if lifted is None else (lifted, affine.node)
        yield Found(node, nodes, {"pool": pool, "affine": affine, "lifted": lifted})


def pooled_convolution(scene: Scene, node: Node) -> Iterator[Found]:
    """A pool of a convolution over the same axes."""
    yield from _pooled(scene, node, is_transposed=False)


def pooled_transposed(scene: Scene, node: Node) -> Iterator[Found]:
    """A pool of a transposed convolution over the same axes."""
    yield from _pooled(scene, node, is_transposed=True)


def _pooled(scene: Scene, node: Node, *, is_transposed: bool) -> Iterator[Found]:
    pool = read.pool_of(scene, node)
    affine = read.affine_of(scene, scene.node(pool.source)) if pool else None
    if pool is None or affine is None or affine.node.op == "linear":
        return
    window = read.window_of(affine)
    is_same = int(affine.node.op[-2]) == pool.rank
    if window and is_same and ("transpose" in affine.node.op) == is_transposed:
        parts = {"pool": pool, "affine": affine, "window": window}
        yield Found(node, (affine.node,), parts)


def averages(_: Scene, found: Found) -> str | None:
    """The pool must be linear."""
    pool: Pool = found["pool"]
    return f"{pool.node.op} is linear" if pool.kind == "avg" else None


def along_features(_: Scene, found: Found) -> str | None:
    """A new axis may be anywhere but last."""
    lifted: Node | None = found["lifted"]
    if lifted is None:
        return "the last axis"
    place = integers(bound(lifted)["dim"])[0] % len(lifted.shape)
    return f"the last axis; axis {place} is new" if place < len(lifted.shape) - 1 else None


def whole_windows(_: Scene, found: Found) -> str | None:
    """Windows at the border divide by another number."""
    pool: Pool = found["pool"]
    return "no padding, no rounding up, no divisor" if pool.is_plain else None


def steps_of_one(_: Scene, found: Found) -> str | None:
    """Only then is the window of windows a box."""
    window: Window = found["window"]
    is_one = set(window.stride) == {1} == set(window.dilation)
    return "stride 1, dilation 1" if is_one else None


def one_group(_: Scene, found: Found) -> str | None:
    """The weight of a plain convolution has its channels the other way round."""
    affine, window = found["affine"], found["window"]
    is_one = affine.groups == 1 and set(window.dilation) == {1}
    return "one group, dilation 1" if is_one else None


def strides_divide(_: Scene, found: Found) -> str | None:
    """Then each window starts at the same place of the input's lattice."""
    pool, window = found["pool"], found["window"]
    pairs = list(zip(pool.stride, window.stride, strict=True))
    if any(outer % inner for outer, inner in pairs):
        return None
    return f"strides {list(pool.stride)} and {list(window.stride)}"


def pool_of_linear(builder: Builder, found: Found) -> Ref:
    """``avg_pool(x @ w.T + b) = x @ avg_pool(w).T + avg_pool(b)``."""
    pool, affine = found["pool"], found["affine"]
    columns = builder.permute(affine.weight, (1, 0))
    pooled = builder.again(pool.node, builder.dtype(columns), self=columns)
    bias = affine.bias
    if bias is not None:
        row = builder.view(bias, (1, affine.features))
        row = builder.again(pool.node, builder.wide, self=row)
        bias = builder.view(row, builder.shape(row)[1:])
    result = affine.again(builder, weight=builder.permute(pooled, (1, 0)), bias=bias)
    return builder.view(result, found.root.shape)


def pool_of_convolution(builder: Builder, found: Found) -> Ref:
    """``mean_j conv(x, w)_(s i + j) = conv(x, v)_(s i)`` with ``v_u = mean_j w_(u - j)``."""
    pool: Pool = found["pool"]
    affine: Affine = found["affine"]
    pads = tuple(side for each in reversed(pool.kernel) for side in (each - 1, each - 1))
    dtype, ones = builder.dtype(affine.weight), (1,) * pool.rank
    weight = builder.op("pad", affine.weight, pads, dtype=dtype)
    weight = builder.op(f"avg_pool{pool.rank}d", weight, pool.kernel, ones, dtype=dtype)
    return builder.again(
        affine.node, input=affine.source, weight=weight, bias=affine.bias, stride=pool.stride
    )


def pool_of_transposed(builder: Builder, found: Found) -> Ref:
    """``mean_j y_(a s i + j) = sum_r v_r x_(a i + r)``.

    Here v_r is the mean of the taps ``j + padding - s r``: a stretch of the weight as long as the
    pool's window.
    """
    pool, affine, window = found["pool"], found["affine"], found["window"]
    weight, source = affine.weight, affine.source
    sizes, kernel = builder.shape(source)[2:], builder.shape(weight)[2:]
    strides, pads, cuts = [], [], []
    for place in range(pool.rank):
        step, before = window.stride[place], window.padding[place]
        # Taps j + before - step * r for 0 <= j < window, cut to those that exist.
        lowest = -((kernel[place] - 1 - before) // step)
        highest = (pool.kernel[place] - 1 + before) // step
        stretches = [
            taps.Stretch(
                max(before - step * r, 0),
                min(before - step * r + pool.kernel[place], kernel[place]),
            )
            for r in range(lowest, highest + 1)
        ]
        weight = taps.tap_sums(builder, weight, place + 2, stretches)
        jump, out = pool.stride[place] // step, found.root.shape[2 + place]
        reach = jump * (out - 1) + highest - (sizes[place] - 1)
        # Both sides are padded alike; windows that start too early are cut off again.
        cut = max(0, -(-(max(0, reach) + lowest) // jump))
        strides.append(jump)
        pads.append(cut * jump - lowest)
        cuts.append(cut)
    dtype = builder.dtype(affine.weight)
    weight = builder.op("div", weight, math.prod(pool.kernel), dtype=dtype)
    order = (1, 0, *range(2, 2 + pool.rank))
    named: dict[str, Arg] = {"stride": tuple(strides), "padding": tuple(pads)}
    if affine.bias is not None:
        named["bias"] = affine.bias
    op = affine.node.op.replace("_transpose", "")
    result = builder.op(op, source, builder.permute(weight, order), named=named)
    for place, cut in enumerate(cuts):
        result = builder.part(result, place + 2, cut, cut + found.root.shape[place + 2])
    return result
