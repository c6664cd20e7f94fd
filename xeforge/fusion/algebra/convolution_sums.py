"""Sums and means of convolutions: each tap of the window meets few different parts of the input."""

import math

from xeforge.fusion.algebra import read
from xeforge.fusion.algebra import taps
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.read import Affine
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import spread
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Ref


def features_in_one_group(_: Scene, found: Found) -> str | None:
    """Summed channels must all read the same inputs."""
    fold, affine = found["fold"], found["affine"]
    if 1 not in fold.axes:
        return "the channels stay"
    return "one group" if affine.groups == 1 else None


def taps_meet_the_input(scene: Scene, found: Found) -> str | None:
    """No tap may read padding only."""
    found_taps = _stretches(scene.shape(found["affine"].source), scene, found)
    return None if found_taps is None else "every tap reads some element"


def _stretches(
    shape: tuple[int, ...], scene: Scene, found: Found
) -> dict[int, list[taps.Stretch]] | None:
    """Return what each tap meets, for each reduced spatial axis."""
    fold, affine = found["fold"], found["affine"]
    window, kernel = read.window_of(affine), scene.shape(affine.weight)[2:]
    if window is None:
        return None
    result = {}
    for axis in fold.axes:
        if axis > 1:
            slide = window.slide(kernel, axis - 2)
            size, out = shape[axis], affine.node.shape[axis]
            is_transposed = "transpose" in affine.node.op
            stretches = slide.met_by(out, size) if is_transposed else slide.met(size, out)
            if stretches is None:
                return None
            result[axis] = stretches
    return result


def fold_of_convolution(builder: Builder, found: Found) -> Ref:
    """``sum_p conv(x, w)_p = sum_t w_t * (sum of x over the places that tap t meets)``.

    Reduced spatial axes become one element per tap, which joins the channels; what is left is a
    convolution over the other axes, or a linear layer.
    """
    fold, affine = found["fold"], found["affine"]
    op, bias = fold.op, affine.bias
    dtype = builder.operand_dtype(op, affine.source)
    source = builder.fold(op, affine.source, (0,), dtype) if 0 in fold.axes else affine.source
    weight, spatial = affine.weight, _stretches(builder.shape(affine.source), builder.scene, found)
    if 1 in fold.axes:
        weight = builder.fold(op, weight, (affine.weight_axis,))
        bias = bias and builder.fold(op, bias, (0,))
    counts = [affine.node.shape[each] for each in fold.axes if each != 1]
    if op == "sum" and bias is not None:
        bias = builder.times(bias, math.prod(counts))
    if not spatial:
        result = affine.again(builder, source=source, weight=weight, bias=bias)
        return builder.view(result, found.root.shape)
    for axis, stretches in spatial.items():
        source = taps.tap_sums(builder, source, axis, stretches)
    if op == "mean":
        positions = math.prod(affine.node.shape[each] for each in spatial)
        source = builder.op("div", source, positions, dtype=dtype)
    parts = source, weight, bias
    result = _merged(builder, affine, parts, tuple(spatial))
    return builder.view(result, found.root.shape)


def _merged(
    builder: Builder,
    affine: Affine,
    parts: tuple[Ref, Ref, Ref | None],
    reduced: tuple[int, ...],
) -> Ref:
    """Join the taps of reduced axes to the channels, and apply what is left."""
    source, weight, bias = parts
    args, rank = bound(affine.node), len(affine.node.shape)
    kept = [each for each in range(2, rank) if each not in reduced]
    is_transposed = "transpose" in affine.node.op
    shape, own = builder.shape(source), builder.shape(weight)
    channels = shape[1] * math.prod(shape[each] for each in reduced)
    source = builder.permute(source, (0, 1, *reduced, *kept))
    sizes = [shape[each] for each in kept] or [1]
    inputs = (0 if is_transposed else 1,)
    order = (0, *reduced, 1, *kept) if is_transposed else (0, 1, *reduced, *kept)
    weight = builder.permute(weight, order)
    merged = own[inputs[0]] * math.prod(own[each] for each in reduced)
    taps_left = [own[each] for each in kept] or [1]
    lead = (merged, own[1]) if is_transposed else (own[0], merged)
    if not kept and affine.groups == 1:
        weight = builder.view(weight, lead)
        weight = builder.permute(weight, (1, 0)) if is_transposed else weight
        source = builder.view(source, (shape[0], channels))
        return builder.op("linear", source, weight, *(() if bias is None else (bias,)))
    named: dict[str, Arg] = {
        name: tuple(spread(args[name], rank - 2, 1)[each - 2] for each in kept)
        for name in ("stride", "padding", "dilation", "output_padding")
        if args.get(name) is not None and kept
    }
    named.update({"groups": affine.groups} if affine.groups > 1 else {})
    named.update({} if bias is None else {"bias": bias})
    op = f"{affine.node.op[:-2]}{max(len(kept), 1)}d"
    source = builder.view(source, (shape[0], channels, *sizes))
    return builder.op(op, source, builder.view(weight, (*lead, *taps_left)), named=named)
