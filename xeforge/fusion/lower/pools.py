"""Pools: folds over the elements of a window."""

import math

from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import below
from xeforge.fusion.front.graph import Node
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.reductions import divided
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.windows import Window

_MAX = ("self", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
_AVERAGE = (
    *("self", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"),
    "divisor_override",
)


def _window(args: Arguments, value: Value, rank: int) -> Window:
    kernel = args.spread("kernel_size", rank, 1)
    stride = args.spread("stride", rank, 1) if args.get("stride") else kernel
    padding, dilation = args.spread("padding", rank, 0), args.spread("dilation", rank, 1)
    return Window(value.shape[len(value.shape) - rank :], kernel, stride, padding, dilation)


def lower_max_pool(draft: Draft, node: Node) -> Value:
    """Fold the largest element; what lies outside never wins."""
    args = Arguments(node, *_MAX)
    if node.index not in {None, 0}:
        raise refuse(node, "positions of maxima are not covered")
    value = draft.value(args.ref("self"))
    rank = int(node.op[-2])
    window = _window(args, value, rank)

    def body(outer: At, inner: At) -> Expr:
        lead = len(outer) - rank
        at, guard = window.read(outer[lead:], inner)
        return value.at((*outer[:lead], *at), guard, float("-inf"))

    return draft.fold(node.name, node.shape, window.kernel, body, monoid="max", dtype=node.dtype)


def lower_average_pool(draft: Draft, node: Node) -> Value:
    """Sum the window, then divide by its size or by how many elements it really has."""
    args = Arguments(node, *_AVERAGE)
    value = draft.value(args.ref("self"))
    rank = int(node.op[-2])
    window = _window(args, value, rank)
    wide = compute_dtype(node.dtype)

    def body(outer: At, inner: At) -> Expr:
        lead = len(outer) - rank
        at, guard = window.read(outer[lead:], inner)
        return value.at((*outer[:lead], *at), guard)

    name = draft.step(node, "sum")
    total = draft.fold(name, node.shape, window.kernel, body, monoid="sum", dtype=wide)
    override = args.get("divisor_override")
    if override is not None:
        return divided(draft, node.name, total, args.number("divisor_override", 1), node.dtype)
    count = _counted(draft, node, window, args, wide)
    lead = len(node.shape) - rank
    return draft.pointwise(
        node.name,
        node.shape,
        node.dtype,
        lambda at: call("div", total.at(at), count.at(at[lead:])),
    )


def _counted(draft: Draft, node: Node, window: Window, args: Arguments, dtype: str) -> Value:
    """Return the number that each place divides by; written only where it is not one for all."""
    rank = len(window.kernel)
    shape = node.shape[len(node.shape) - rank :]
    include = args.flag("count_include_pad", default=True)
    margin = window.padding if include else (0,) * rank
    ends = [
        (size - 1) * step + kernel - pad
        for size, step, kernel, pad in zip(
            shape, window.stride, window.kernel, window.padding, strict=True
        )
    ]
    limits = [size + pad for size, pad in zip(window.sizes, margin, strict=True)]
    is_even = all(end <= limit for end, limit in zip(ends, limits, strict=True))
    if is_even and margin == window.padding:
        return Value(shape, dtype, "", (), constant=math.prod(window.kernel))

    def body(outer: At, inner: At) -> Expr:
        at, _ = window.read(outer, inner)
        guard = tuple(
            condition
            for place, low, limit in zip(at, margin, limits, strict=True)
            for condition in (at_least(place, -low), below(place, limit))
        )
        return Select(guard, Const(1.0, dtype), Const(0.0, dtype))

    name = draft.step(node, "count")
    return draft.fold(name, shape, window.kernel, body, monoid="sum", dtype=dtype)


def lower_adaptive_average_pool(draft: Draft, node: Node) -> Value:
    """Average over equal windows; sizes that do not divide are refused."""
    args = Arguments(node, "self", "output_size")
    value = draft.value(args.ref("self"))
    rank = int(node.op[-2])
    lead = len(node.shape) - rank
    pairs = list(zip(value.shape[lead:], node.shape[lead:], strict=True))
    if any(size % wanted for size, wanted in pairs):
        raise refuse(node, "to a size that does not divide the input's is not covered")
    kernel = tuple(size // wanted for size, wanted in pairs)

    def body(outer: At, inner: At) -> Expr:
        at = (
            place * size + tap for place, size, tap in zip(outer[lead:], kernel, inner, strict=True)
        )
        return value.at((*outer[:lead], *at))

    wide = compute_dtype(node.dtype)
    name = draft.step(node, "sum")
    total = draft.fold(name, node.shape, kernel, body, monoid="sum", dtype=wide)
    return divided(draft, node.name, total, math.prod(kernel), node.dtype)


_RANKS = (1, 2, 3)
LOWERINGS = {
    **{f"max_pool{rank}d": lower_max_pool for rank in _RANKS},
    **{f"avg_pool{rank}d": lower_average_pool for rank in _RANKS},
    **{f"adaptive_avg_pool{rank}d": lower_adaptive_average_pool for rank in _RANKS},
}
