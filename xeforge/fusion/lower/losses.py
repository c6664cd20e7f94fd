"""Losses: a term per element or per row, then no fold, the sum or the mean."""

from collections.abc import Callable
from collections.abc import Mapping

from xeforge.fusion.front.graph import Node
from xeforge.fusion.functions import call
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.reductions import Dims
from xeforge.fusion.lower.reductions import shifted_sum
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.value import widened

_NONE, _MEAN = 0, 1
_Term = Callable[[Arguments, Expr, Expr], Expr]


def _like(value: Expr, number: float) -> Const:
    return Const(number, dtype_of(value))


def _difference(_: Arguments, value: Expr, target: Expr) -> Expr:
    return call("abs", call("sub", value, target))


def _square(_: Arguments, value: Expr, target: Expr) -> Expr:
    off = call("sub", value, target)
    return call("mul", off, off)


def _bent(name: str) -> _Term:
    """Quadratic near zero, linear outside; the two losses differ by a factor."""

    def term(args: Arguments, value: Expr, target: Expr) -> Expr:
        off = _difference(args, value, target)
        knee = _like(off, args.number(name, 1.0))
        square = call("mul", _like(off, 0.5), call("mul", off, off))
        line = call("sub", off, call("mul", _like(off, 0.5), knee))
        if name == "beta":
            near, far = call("div", square, knee), line
        else:
            near, far = square, call("mul", knee, line)
        return call("where", call("lt", off, knee), near, far)

    return term


def _cross(_: Arguments, value: Expr, target: Expr) -> Expr:
    """Logarithms are cut off at -100, as Torch does."""
    one, least = _like(value, 1.0), _like(value, -100.0)
    hit = call("maximum", call("log", value), least)
    miss = call("maximum", call("log1p", call("neg", value)), least)
    return call("sub", call("mul", call("sub", target, one), miss), call("mul", target, hit))


def _cross_of_logits(_: Arguments, value: Expr, target: Expr) -> Expr:
    tail = call("log1p", call("exp", call("neg", call("abs", value))))
    positive = call("maximum", value, _like(value, 0.0))
    return call("add", call("sub", positive, call("mul", value, target)), tail)


def _divergence(args: Arguments, value: Expr, target: Expr) -> Expr:
    if args.flag("log_target"):
        return call("mul", call("exp", target), call("sub", target, value))
    is_zero = call("eq", target, _like(target, 0.0))
    own = call("where", is_zero, target, call("mul", target, call("log", target)))
    return call("sub", own, call("mul", target, value))


_TERMS: Mapping[str, tuple[tuple[str, ...], _Term]] = {
    "l1_loss": (("self", "target", "reduction"), _difference),
    "mse_loss": (("self", "target", "reduction"), _square),
    "smooth_l1_loss": (("self", "target", "reduction", "beta"), _bent("beta")),
    "huber_loss": (("self", "target", "reduction", "delta"), _bent("delta")),
    "binary_cross_entropy": (("self", "target", "weight", "reduction"), _cross),
    "binary_cross_entropy_with_logits": (
        ("self", "target", "weight", "pos_weight", "reduction"),
        _cross_of_logits,
    ),
    "kl_div": (("self", "target", "reduction", "log_target"), _divergence),
}


def lower_term_loss(draft: Draft, node: Node) -> Value:
    """A loss whose terms need one element of each operand."""
    names, term = _TERMS[node.op]
    args = Arguments(node, *names)
    if args.get("weight") is not None or args.get("pos_weight") is not None:
        raise refuse(node, "with weights is not covered")
    value, target = draft.value(args.ref("self")), draft.value(args.ref("target"))
    wide = compute_dtype(node.dtype)
    if value.shape != target.shape:
        raise refuse(node, "of operands of different shapes is not covered")

    def body(at: At) -> Expr:
        return term(args, widened(value.at(at), wide), widened(target.at(at), wide))

    return _reduced(draft, args, value.shape, body, None)


def _reduced(
    draft: Draft,
    args: Arguments,
    shape: tuple[int, ...],
    body: Callable[[At], Expr],
    counted: Value | None,
) -> Value:
    """Write the terms, their sum or their mean; `counted` is the divisor where it is not all."""
    node = args.node
    reduction = args.integer("reduction", _MEAN)
    if reduction == _NONE:
        return draft.pointwise(node.name, shape, node.dtype, body)
    wide = compute_dtype(node.dtype)
    is_mean = reduction == _MEAN
    name = draft.step(node, "sum") if is_mean else node.name
    dtype = wide if is_mean else node.dtype
    total = draft.fold(name, (), shape, lambda _, at: body(at), monoid="sum", dtype=dtype)
    if not is_mean:
        return total
    count = 1
    for size in shape:
        count *= size

    def mean(at: At) -> Expr:
        divisor = Const(count, wide) if counted is None else counted.at(at)
        return call("div", total.at(at), divisor)

    return draft.pointwise(node.name, (), node.dtype, mean)


def lower_class_loss(draft: Draft, node: Node) -> Value:
    """Cross entropy and negative log-likelihood of class numbers.

    The class is found by comparing its number with the position along the class dimension; a
    number that is no class picks nothing, where Torch raises.
    """
    names = ("self", "target", "weight", "reduction", "ignore_index", "label_smoothing")
    args = Arguments(node, *names)
    if args.get("weight") is not None or args.number("label_smoothing", 0.0):
        raise refuse(node, "with weights or smoothing is not covered")
    value, target = draft.value(args.ref("self")), draft.value(args.ref("target"))
    if target.dtype != "int64":
        raise refuse(node, "of class probabilities is not covered")
    place = 1 if len(value.shape) > 1 else 0
    dims = Dims(value.shape, (place,))
    wide = compute_dtype(node.dtype)
    is_whole = node.op == "cross_entropy_loss"
    shift = shifted_sum(draft, node, value, dims) if is_whole else None

    def pick(outer: At, inner: At) -> Expr:
        own = widened(value.at(dims.join(outer, inner)), wide)
        if shift is not None:
            own = call("sub", own, widened(shift[0].at(outer), wide))
        is_class = call("eq", target.at(outer), Position(inner[0], "int64"))
        return call("where", is_class, own, Const(0.0, wide))

    name = draft.step(node, "picked")
    picked = draft.fold(name, dims.kept, dims.extents, pick, monoid="sum", dtype=wide)
    ignored = Const(args.integer("ignore_index", -100), "int64")

    def body(at: At) -> Expr:
        own = call("neg", picked.at(at))
        if shift is not None:
            own = call("sub", call("log", shift[1].at(at)), picked.at(at))
        return call("where", call("eq", target.at(at), ignored), Const(0.0, wide), own)

    def counts(_: At, at: At) -> Expr:
        is_ignored = call("eq", target.at(at), ignored)
        return call("where", is_ignored, Const(0.0, wide), Const(1.0, wide))

    counted = None
    if args.integer("reduction", _MEAN) == _MEAN:
        name = draft.step(node, "count")
        counted = draft.fold(name, (), dims.kept, counts, monoid="sum", dtype=wide)
    return _reduced(draft, args, dims.kept, body, counted)


LOWERINGS = {
    **dict.fromkeys(_TERMS, lower_term_loss),
    **dict.fromkeys(("cross_entropy_loss", "nll_loss_nd"), lower_class_loss),
}
