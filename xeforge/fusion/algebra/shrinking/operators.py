"""What each operator asks of the sizes of its operands, and the axes of its result."""

from collections.abc import Mapping
from itertools import zip_longest

from xeforge.fusion.algebra.shapes import reduced_axes
from xeforge.fusion.algebra.shrinking.axes import ONE
from xeforge.fusion.algebra.shrinking.axes import Axis
from xeforge.fusion.algebra.shrinking.axes import Sizes
from xeforge.fusion.algebra.shrinking.layout import LAYOUTS
from xeforge.fusion.algebra.shrinking.seen import Axes
from xeforge.fusion.algebra.shrinking.seen import Seen
from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node


def at_sizes(node: Node, known: Mapping[str, Axes], sizes: Sizes) -> tuple[Axes, Mapping[str, Arg]]:
    """Return the axes of a result, and the arguments that change with the sizes.

    Raises:
        CannotShrink: The operator, or this use of it, is not followed here.
        Retry: Sizes were changed; walk again.
    """
    seen = Seen(node, known, sizes)
    family = FAMILIES.get(node.op)
    if node.op in LAYOUTS:
        axes = LAYOUTS[node.op](seen)
    elif node.op in {"full", "ones", "zeros"}:
        axes = tuple(sizes.axis(node.name, place, full) for place, full in enumerate(node.shape))
        seen.changed["size"] = tuple(each.size for each in axes)
    elif family is Family.POINTWISE and node.op != "prelu":
        axes = _broadcast(seen, [known[name] for name in node.reads()])
    elif family is Family.REDUCTION:
        axes = _reduced(seen)
    elif family is Family.SOFTMAX:
        axes = seen.first
    elif family is Family.NORM:
        axes = _normalised(seen)
    elif family is Family.CONTRACTION:
        axes = _product(seen)
    elif family is Family.CONVOLUTION:
        axes = _convolved(seen)
    elif family is Family.POOL:
        axes = _pooled(seen)
    else:
        raise seen.refuse("is not followed at other sizes")
    return axes, seen.changed


def _broadcast(seen: Seen, operands: list[Axes]) -> Axes:
    columns = zip_longest(*(reversed(each) for each in operands), fillvalue=ONE)
    return tuple(reversed([seen.sizes.agree(each) for each in columns]))


def _reduced(seen: Seen) -> Axes:
    axes = reduced_axes(seen.args, len(seen.first))
    if seen.args.get("keepdim"):
        return tuple(ONE if place in axes else each for place, each in enumerate(seen.first))
    return tuple(each for place, each in enumerate(seen.first) if place not in axes)


def _normalised(seen: Seen) -> Axes:
    axes = seen.first
    if seen.node.op in {"layer_norm", "rms_norm"}:
        last = axes[len(axes) - len(integers(seen.args["normalized_shape"])) :]
        seen.match("weight", last)
        seen.match("bias", last)
        seen.changed["normalized_shape"] = tuple(each.size for each in last)
        return axes
    for name in ("weight", "bias", "running_mean", "running_var"):
        seen.match(name, axes[1:2])
    if seen.node.op == "group_norm":
        groups = integers(seen.args["num_groups"])[0]
        seen.changed["num_groups"] = _groups(seen, axes[1], groups)
    return axes


def _groups(seen: Seen, axis: Axis, full: int) -> int:
    """Return a number of groups that cuts an axis as the captured one did."""
    if full == axis.full:
        return axis.size
    groups = min(full, 2)
    if axis.size % groups or axis.size // groups == 1:
        seen.sizes.grow([axis])
    return groups


def _product(seen: Seen) -> Axes:
    if seen.node.op == "linear":
        source, weight = seen.first, seen.axes("weight")
        seen.sizes.agree((source[-1], weight[1]))
        seen.match("bias", weight[:1])
        return (*source[:-1], weight[0])
    if seen.node.op not in {"matmul", "mm", "bmm", "addmm", "baddbmm"}:
        raise seen.refuse("is not followed at other sizes")
    is_added = seen.node.op in {"addmm", "baddbmm"}
    left, right = (
        seen.axes(each) for each in (("mat1", "mat2") if is_added else ("self", "other"))
    )
    right = right or seen.axes("mat2")
    seen.sizes.agree((left[-1], right[max(len(right) - 2, 0)]))
    batch = _broadcast(seen, [left[:-2], right[:-2]])
    axes = (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return _broadcast(seen, [axes, seen.axes("self")]) if is_added else axes


def _convolved(seen: Seen) -> Axes:
    source, weight = seen.first, seen.axes("weight")
    rank = len(source) - 2
    for tap in weight[2:]:
        seen.sizes.set(tap, tap.full)
    is_transposed = "transpose" in seen.node.op
    full = integers(seen.args.get("groups") or 1)[0]
    groups = min(full, 2)
    if full > 1:
        seen.changed["groups"] = groups
    # In groups, the weight has one axis of channels within a group and one of all channels.
    whole, within = (weight[0], weight[1]) if is_transposed else (weight[0], source[1])
    if is_transposed:
        seen.sizes.agree((source[1], weight[0]))
    if whole.size % groups:
        seen.sizes.grow([whole])
    if is_transposed:
        channels = (
            within
            if groups == 1
            else Axis(within.size * groups, seen.node.shape[1], None, within.needs)
        )
    else:
        channels = weight[0]
        if groups == 1:
            seen.sizes.agree((source[1], weight[1]))
        elif source[1].size != weight[1].size * groups:
            seen.sizes.set(source[1], weight[1].size * groups, weight[1].needs)
    seen.match("bias", (channels,))
    places = range(2, 2 + rank)
    found = seen.follow(places, source[2:])
    return (source[0], channels, *found[2:])


def _pooled(seen: Seen) -> Axes:
    rank = int(seen.node.op[-2])
    lead = len(seen.first) - rank
    places, needs = range(lead, lead + rank), seen.first[lead:]
    if seen.node.op.startswith("adaptive"):
        wanted = seen.node.shape[lead:]
        sizes = []
        for axis, full in zip(needs, wanted, strict=True):
            size = axis.size if full == axis.full else min(full, 2)
            if axis.full % full == 0 and axis.size % size:
                seen.sizes.grow([axis])
            sizes.append(size)
        seen.changed["output_size"] = tuple(sizes)
    return (*seen.first[:lead], *seen.follow(places, needs)[lead:])
