"""Sums, means, extrema, variances and log-sum-exp over dimensions; softmax."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from xeforge.fusion.front.graph import Node
from xeforge.fusion.functions import call
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Monoid
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.value import widened


@dataclass(frozen=True, slots=True)
class Dims:
    """Which dimensions of a value are folded, and how positions are put together again.

    Attributes:
        shape: Of the value that is reduced.
        folded: Dimensions, ascending, none negative.
    """

    shape: tuple[int, ...]
    folded: tuple[int, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents of the folded dimensions."""
        return tuple(self.shape[each] for each in self.folded)

    @property
    def kept(self) -> tuple[int, ...]:
        """Shape of the result with folded dimensions left out."""
        return tuple(size for place, size in enumerate(self.shape) if place not in self.folded)

    @property
    def count(self) -> int:
        """How many elements one fold takes."""
        return math.prod(self.extents)

    def join(self, outer: At, inner: At) -> At:
        """Return the position in the whole shape."""
        left, right = iter(outer), iter(inner)
        return tuple(
            next(right) if place in self.folded else next(left) for place in range(len(self.shape))
        )

    def outer(self, at: At) -> At:
        """Return the part of a whole position that stays."""
        return tuple(each for place, each in enumerate(at) if place not in self.folded)

    def keepdim(self, value: Value) -> Value:
        """View a result with its folded dimensions as size 1."""
        shape = tuple(1 if place in self.folded else size for place, size in enumerate(self.shape))
        return value.viewed(shape, self.outer)


def folded_dims(node: Node, shape: tuple[int, ...], dims: tuple[int, ...]) -> Dims:
    """Return the dimensions that are folded; none given means all of them."""
    rank = len(shape)
    if any(not -rank <= each < max(rank, 1) for each in dims):
        raise refuse(node, f"has no dimension {list(dims)}")
    named = {each % rank for each in dims} if rank else set()
    return Dims(shape, tuple(sorted(named or range(rank))))


def _arguments(node: Node) -> Arguments:
    names = {
        "max": ("self", "dim", "keepdim"),
        "min": ("self", "dim", "keepdim"),
        "logsumexp": ("self", "dim", "keepdim", "is_bounded"),
        "amax": ("self", "dim", "keepdim"),
        "amin": ("self", "dim", "keepdim"),
        "var": ("self", "dim", "unbiased", "keepdim", "correction"),
        "std": ("self", "dim", "unbiased", "keepdim", "correction"),
        "var_mean": ("self", "dim", "unbiased", "keepdim", "correction"),
    }
    return Arguments(node, *names.get(node.op, ("self", "dim", "keepdim", "dtype")))


def _lower(draft: Draft, node: Node, build: Callable[[Value, Dims, Arguments], Value]) -> Value:
    args = _arguments(node)
    value = draft.value(args.ref("self"))
    if node.index not in {None, 0} and node.op != "var_mean":
        raise refuse(node, "positions of extrema are not covered")
    given = args.get("dim")
    dims = () if given is None else args.integers("dim")
    found = folded_dims(node, value.shape, dims)
    result = build(value, found, args)
    return found.keepdim(result) if args.flag("keepdim") else result


def _fold(monoid: Monoid) -> Callable[[Draft, Node], Value]:
    def lower(draft: Draft, node: Node) -> Value:
        def build(value: Value, dims: Dims, _: Arguments) -> Value:
            return folded(draft, node.name, value, dims, monoid=monoid, dtype=node.dtype)

        return _lower(draft, node, build)

    return lower


def folded(
    draft: Draft, name: str, value: Value, dims: Dims, *, monoid: Monoid, dtype: str
) -> Value:
    """Fold the elements of a value as they are."""
    return draft.fold(
        name,
        dims.kept,
        dims.extents,
        lambda outer, inner: value.at(dims.join(outer, inner)),
        monoid=monoid,
        dtype=dtype,
    )


def divided(draft: Draft, name: str, total: Value, by: float, dtype: str) -> Value:
    """Divide every element by a number."""
    return draft.pointwise(
        name,
        total.shape,
        dtype,
        lambda at: call("div", total.at(at), Const(by, total.dtype)),
    )


def mean_of(draft: Draft, node: Node, value: Value, dims: Dims, suffix: str) -> Value:
    """Write the mean over dimensions, in the dtype in which arithmetic happens."""
    wide = compute_dtype(value.dtype)
    name = draft.step(node, f"{suffix}_sum")
    total = folded(draft, name, value, dims, monoid="sum", dtype=wide)
    return divided(draft, draft.step(node, suffix), total, dims.count, wide)


def squares_of(draft: Draft, node: Node, value: Value, dims: Dims, mean: Value) -> Value:
    """Write the sums of squared distances from the mean."""

    def body(outer: At, inner: At) -> Expr:
        term = widened(value.at(dims.join(outer, inner)), value.dtype)
        off = call("sub", term, mean.at(outer))
        return call("mul", off, off)

    wide = compute_dtype(value.dtype)
    name = draft.step(node, "squares")
    return draft.fold(name, dims.kept, dims.extents, body, monoid="sum", dtype=wide)


def lower_mean(draft: Draft, node: Node) -> Value:
    """Sum, then divide."""

    def build(value: Value, dims: Dims, _: Arguments) -> Value:
        wide = compute_dtype(node.dtype)
        name = draft.step(node, "sum")
        total = folded(draft, name, value, dims, monoid="sum", dtype=wide)
        return divided(draft, node.name, total, dims.count, node.dtype)

    return _lower(draft, node, build)


def lower_variance(draft: Draft, node: Node) -> Value:
    """Mean, then squared distances; ``std`` takes the root, ``var_mean`` may want the mean."""

    def build(value: Value, dims: Dims, args: Arguments) -> Value:
        mean = mean_of(draft, node, value, dims, "mean")
        if node.op == "var_mean" and node.index == 1:
            return draft.pointwise(node.name, mean.shape, node.dtype, mean.at)
        squares = squares_of(draft, node, value, dims, mean)
        correction = args.number("correction", 1 if args.flag("unbiased", default=True) else 0)
        freedom = max(dims.count - correction, 0)

        def body(at: At) -> Expr:
            variance = call("div", squares.at(at), Const(freedom, squares.dtype))
            return call("sqrt", variance) if node.op == "std" else variance

        return draft.pointwise(node.name, squares.shape, node.dtype, body)

    if isinstance(_arguments(node).get("dim"), bool):
        raise refuse(node, "with `unbiased` instead of dimensions is not covered")
    return _lower(draft, node, build)


def shifted_sum(draft: Draft, node: Node, value: Value, dims: Dims) -> tuple[Value, Value]:
    """Write the maxima and the sums of exponentials of what is left without them.

    Where the graph says that the operand is bounded (``is_bounded``, which the algebra adds),
    nothing is taken out: the maxima are a constant zero.
    """
    wide = compute_dtype(value.dtype)
    if node.kwargs.get("is_bounded"):
        highest = Value(dims.kept, wide, "", (), constant=0.0)
    else:
        name = draft.step(node, "max")
        highest = folded(draft, name, value, dims, monoid="max", dtype=value.dtype)

    def body(outer: At, inner: At) -> Expr:
        term = widened(value.at(dims.join(outer, inner)), value.dtype)
        return call("exp", call("sub", term, _shift(node, widened(highest.at(outer), wide))))

    name = draft.step(node, "sum")
    total = draft.fold(name, dims.kept, dims.extents, body, monoid="sum", dtype=wide)
    return highest, total


def _shift(node: Node, highest: Expr) -> Expr:
    """Shift by nothing where the maximum is infinite: log-sum-exp is then infinite, not NaN."""
    if node.op != "logsumexp":
        return highest
    dtype = dtype_of(highest)
    is_infinite = call("eq", call("abs", highest), Const(math.inf, dtype))
    return call("where", is_infinite, Const(0.0, dtype), highest)


def lower_logsumexp(draft: Draft, node: Node) -> Value:
    """Maximum, sum of shifted exponentials, logarithm."""

    def build(value: Value, dims: Dims, _: Arguments) -> Value:
        highest, total = shifted_sum(draft, node, value, dims)

        def body(at: At) -> Expr:
            shift = _shift(node, widened(highest.at(at), value.dtype))
            return call("add", call("log", total.at(at)), shift)

        return draft.pointwise(node.name, dims.kept, node.dtype, body)

    return _lower(draft, node, build)


def lower_softmax(draft: Draft, node: Node) -> Value:
    """Maximum, sum of shifted exponentials, quotient (or difference of logarithms)."""
    args = Arguments(node, "self", "dim", "dtype", "is_bounded")
    value = draft.value(args.ref("self"))
    dims = folded_dims(node, value.shape, args.integers("dim"))
    highest, total = shifted_sum(draft, node, value, dims)

    def body(at: At) -> Expr:
        outer = dims.outer(at)
        own = widened(value.at(at), value.dtype)
        off = call("sub", own, widened(highest.at(outer), value.dtype))
        if node.op == "log_softmax":
            return call("sub", off, call("log", total.at(outer)))
        return call("div", call("exp", off), total.at(outer))

    return draft.pointwise(node.name, node.shape, node.dtype, body)


LOWERINGS = {
    "sum": _fold("sum"),
    "prod": _fold("prod"),
    "amax": _fold("max"),
    "amin": _fold("min"),
    "max": _fold("max"),
    "min": _fold("min"),
    "mean": lower_mean,
    "var": lower_variance,
    "std": lower_variance,
    "var_mean": lower_variance,
    "logsumexp": lower_logsumexp,
    "softmax": lower_softmax,
    "log_softmax": lower_softmax,
}
