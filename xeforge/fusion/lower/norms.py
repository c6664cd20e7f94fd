"""Norms: mean, sum of squared distances, then one pointwise statement."""

from collections.abc import Callable

from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.reductions import Dims
from xeforge.fusion.lower.reductions import mean_of
from xeforge.fusion.lower.reductions import squares_of
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.value import widened

_BATCH_NORM = (
    *("input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps"),
    "cudnn_enabled",
)
_INSTANCE_NORM = tuple("use_input_stats" if each == "training" else each for each in _BATCH_NORM)


def _variance(squares: Value, dims: Dims, at: At) -> Expr:
    return call("div", squares.at(at), Const(dims.count, squares.dtype))


def _scaled(off: Expr, variance: Expr, eps: float, dtype: str) -> Expr:
    """Divide by the root of the variance."""
    return call("mul", off, call("rsqrt", call("add", variance, Const(eps, dtype))))


def _affine(draft: Draft, value: Expr, args: Arguments, at: At) -> Expr:
    """Apply weight and bias where there are any; `at` is the position in both."""
    dtype = compute_dtype(args.node.dtype)
    for name, function in (("weight", "mul"), ("bias", "add")):
        ref = args.optional_ref(name)
        if ref is not None:
            value = call(function, value, widened(draft.value(ref).at(at), dtype))
    return value


def _normalised(
    draft: Draft,
    args: Arguments,
    value: Value,
    dims: Dims,
    *,
    place: Callable[[At], At],
    seen: Callable[[At], At] = lambda at: at,
) -> Value:
    """Write a norm by the statistics of the value itself.

    Args:
        draft: Grows by four statements.
        args: Of the node; weight, bias and eps are taken from it.
        value: In the shape in which `dims` are folded.
        dims: What the statistics are taken over.
        place: Position of the result to position in weight and bias.
        seen: Position of the result to position in `value`.
    """
    node = args.node
    mean = mean_of(draft, node, value, dims, "mean")
    squares = squares_of(draft, node, value, dims, mean)
    wide = compute_dtype(value.dtype)
    eps = args.number("eps", 1e-5)

    def body(at: At) -> Expr:
        own = seen(at)
        outer = dims.outer(own)
        off = call("sub", widened(value.at(own), wide), mean.at(outer))
        result = _scaled(off, _variance(squares, dims, outer), eps, wide)
        return _affine(draft, result, args, place(at))

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def lower_layer_norm(draft: Draft, node: Node) -> Value:
    """Statistics over the last dimensions."""
    args = Arguments(node, "input", "normalized_shape", "weight", "bias", "eps", "cudnn_enable")
    value = draft.value(args.ref("input"))
    count = len(args.integers("normalized_shape"))
    rank = len(value.shape)
    dims = Dims(value.shape, tuple(range(rank - count, rank)))
    return _normalised(draft, args, value, dims, place=lambda at: at[rank - count :])


def lower_rms_norm(draft: Draft, node: Node) -> Value:
    """Divide by the root mean square over the last dimensions."""
    args = Arguments(node, "input", "normalized_shape", "weight", "eps")
    value = draft.value(args.ref("input"))
    rank = len(value.shape)
    first = rank - len(args.integers("normalized_shape"))
    dims = Dims(value.shape, tuple(range(first, rank)))
    wide = compute_dtype(value.dtype)
    eps = _rms_eps(args, wide)

    def square(outer: At, inner: At) -> Expr:
        term = widened(value.at(dims.join(outer, inner)), wide)
        return call("mul", term, term)

    name = draft.step(node, "squares")
    total = draft.fold(name, dims.kept, dims.extents, square, monoid="sum", dtype=wide)

    def body(at: At) -> Expr:
        mean = _variance(total, dims, dims.outer(at))
        return _affine(
            draft, _scaled(widened(value.at(at), wide), mean, eps, wide), args, at[first:]
        )

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def _rms_eps(args: Arguments, wide: str) -> float:
    if args.get("eps") is not None:
        return args.number("eps", 0.0)
    # Torch's default: the distance from 1 to the next number of the dtype it computes in.
    return {"float32": 2.0**-23, "float64": 2.0**-52}[wide]


def lower_group_norm(draft: Draft, node: Node) -> Value:
    """Statistics over the channels of a group and all places."""
    args = Arguments(node, "input", "num_groups", "weight", "bias", "eps", "cudnn_enabled")
    value = draft.value(args.ref("input"))
    batch, channels, *places = value.shape
    groups = args.integer("num_groups")
    each = channels // groups
    if each * groups != channels:
        raise refuse(node, f"{channels} channels do not make {groups} groups")
    grouped = value.viewed(
        (batch, groups, each, *places), lambda at: (at[0], at[1] * each + at[2], *at[3:])
    )
    dims = Dims(grouped.shape, tuple(range(2, len(grouped.shape))))
    return _normalised(
        draft,
        args,
        grouped,
        dims,
        place=lambda at: at[1:2],
        seen=lambda at: (at[0], at[1] // each, at[1] % each, *at[2:]),
    )


def lower_batch_norm(draft: Draft, node: Node) -> Value:
    """Statistics of the batch, or the running ones. The running ones are never written here."""
    is_instance = node.op == "instance_norm"
    args = Arguments(node, *(_INSTANCE_NORM if is_instance else _BATCH_NORM))
    value = draft.value(args.ref("input"))
    rank = len(value.shape)
    if args.flag("use_input_stats" if is_instance else "training"):
        kept = (0, 1) if is_instance else (1,)
        dims = Dims(value.shape, tuple(each for each in range(rank) if each not in kept))
        return _normalised(draft, args, value, dims, place=lambda at: at[1:2])
    wide = compute_dtype(node.dtype)
    eps = args.number("eps", 1e-5)
    mean, variance = draft.value(_running(args, "mean")), draft.value(_running(args, "var"))

    def body(at: At) -> Expr:
        place = at[1:2]
        off = call("sub", widened(value.at(at), wide), widened(mean.at(place), wide))
        result = _scaled(off, widened(variance.at(place), wide), eps, wide)
        return _affine(draft, result, args, place)

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def _running(args: Arguments, what: str) -> Ref:
    found = args.optional_ref(f"running_{what}")
    if found is None:
        raise refuse(args.node, f"has no running {what} and takes none of the batch")
    return found


LOWERINGS = {
    "layer_norm": lower_layer_norm,
    "rms_norm": lower_rms_norm,
    "group_norm": lower_group_norm,
    "batch_norm": lower_batch_norm,
    "instance_norm": lower_batch_norm,
}
