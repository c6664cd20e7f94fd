"""Matrix products: a fold over the shared dimension, then what is added."""

from xeforge.fusion.front.graph import Node
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.value import widened

_VECTOR = 1
_MATRIX = 2


def product(left: Expr, right: Expr, dtype: str) -> Expr:
    """Multiply in the dtype in which arithmetic on `dtype` happens."""
    return call("mul", widened(left, dtype), widened(right, dtype))


def with_bias(draft: Draft, node: Node, total: Value, bias: Value, place: int) -> Value:
    """Add a vector along one dimension of a fold, and round once."""

    def body(at: At) -> Expr:
        return call("add", total.at(at), widened(bias.at((at[place],)), node.dtype))

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def lower_linear(draft: Draft, node: Node) -> Value:
    """``x @ w.T + b``; halves are summed in float32 and rounded after the bias."""
    args = Arguments(node, "input", "weight", "bias")
    value, weight = draft.value(args.ref("input")), draft.value(args.ref("weight"))
    bias = args.optional_ref("bias")
    if len(weight.shape) != _MATRIX:
        raise refuse(node, "the weight is no matrix")

    def body(outer: At, inner: At) -> Expr:
        left = value.at((*outer[:-1], *inner))
        return product(left, weight.at((outer[-1], *inner)), node.dtype)

    name = node.name if bias is None else draft.step(node, "product")
    dtype = node.dtype if bias is None else compute_dtype(node.dtype)
    over = (weight.shape[1],)
    total = draft.fold(name, node.shape, over, body, monoid="sum", dtype=dtype)
    if bias is None:
        return total
    return with_bias(draft, node, total, draft.value(bias), len(node.shape) - 1)


def _multiplied(
    draft: Draft, node: Node, name: str, pair: tuple[Value, Value], dtype: str
) -> Value:
    """Fold over the last dimension of the left and the last but one of the right."""
    left, right = pair
    is_row, is_column = len(left.shape) == _VECTOR, len(right.shape) == _VECTOR
    if not left.shape or not right.shape:
        raise refuse(node, "an operand is a scalar")

    def body(outer: At, inner: At) -> Expr:
        column = () if is_column else outer[-1:]
        rest = outer[: len(outer) - len(column)]
        row = () if is_row else rest[-1:]
        batch = rest[: len(rest) - len(row)]
        first = _batched(left, batch, (*row, *inner))
        return product(first, _batched(right, batch, (*inner, *column)), node.dtype)

    over = (left.shape[-1],)
    return draft.fold(name, node.shape, over, body, monoid="sum", dtype=dtype)


def _batched(value: Value, batch: At, tail: At) -> Expr:
    """Read at a matrix position; batch dimensions broadcast, matrix dimensions do not."""
    own = batch[len(batch) - (len(value.shape) - len(tail)) :]
    sizes = value.shape[: len(own)]
    lead = tuple(each if size > 1 else each * 0 for each, size in zip(own, sizes, strict=True))
    return value.at((*lead, *tail))


def lower_matmul(draft: Draft, node: Node) -> Value:
    """Matrix product with broadcast batches; vectors on either side."""
    second = {"matmul": "other", "mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor"}[node.op]
    args = Arguments(node, "self", second)
    pair = draft.value(args.ref("self")), draft.value(args.ref(second))
    return _multiplied(draft, node, node.name, pair, node.dtype)


def lower_addmm(draft: Draft, node: Node) -> Value:
    """``beta * self + alpha * (left @ right)``."""
    first, second = ("mat1", "mat2") if node.op == "addmm" else ("batch1", "batch2")
    args = Arguments(node, "self", first, second, "beta", "alpha")
    added = draft.value(args.ref("self"))
    pair = draft.value(args.ref(first)), draft.value(args.ref(second))
    wide = compute_dtype(node.dtype)
    total = _multiplied(draft, node, draft.step(node, "product"), pair, wide)
    beta, alpha = args.number("beta", 1), args.number("alpha", 1)

    def body(at: At) -> Expr:
        scaled = _times(total.at(at), alpha, wide)
        if beta == 0:
            return scaled
        return call("add", _times(widened(added.broadcast(at), wide), beta, wide), scaled)

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def _times(value: Expr, factor: float, dtype: str) -> Expr:
    return value if factor == 1 else call("mul", value, Const(factor, dtype))


LOWERINGS = {
    "linear": lower_linear,
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot"), lower_matmul),
    **dict.fromkeys(("addmm", "baddbmm"), lower_addmm),
}
