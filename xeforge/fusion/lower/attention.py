"""Scaled dot-product attention as scores, their softmax's two folds, and a weighted sum."""

import math

from xeforge.fusion.affine import at_least
from xeforge.fusion.front.graph import Node
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.contractions import product
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.reductions import Dims
from xeforge.fusion.lower.reductions import shifted_sum
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.value import widened

_NAMES = (*("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"),)


def lower_attention(draft: Draft, node: Node) -> Value:
    """Scores and weights stay in the dtype in which arithmetic happens."""
    args = Arguments(node, *_NAMES)
    query, key, value = (draft.value(args.ref(name)) for name in _NAMES[:3])
    if args.number("dropout_p", 0.0):
        raise refuse(node, "with dropout is not covered")
    if args.flag("enable_gqa") or query.shape[:-2] != key.shape[:-2]:
        raise refuse(node, "with fewer heads of keys than of queries is not covered")
    wide = compute_dtype(node.dtype)
    keys = key.shape[-2]
    shape = (*query.shape[:-1], keys)

    def dot(outer: At, inner: At) -> Expr:
        left = query.at((*outer[:-1], *inner))
        return product(left, key.at((*outer[:-2], outer[-1], *inner)), node.dtype)

    name = draft.step(node, "dot")
    dots = draft.fold(name, shape, query.shape[-1:], dot, monoid="sum", dtype=wide)
    scores = _masked(draft, args, dots, query.shape[-1])
    dims = Dims(shape, (len(shape) - 1,))
    highest, total = shifted_sum(draft, node, scores, dims)

    def weighted(outer: At, inner: At) -> Expr:
        row = outer[:-1]
        off = call("sub", scores.at((*row, *inner)), highest.at(row))
        own = widened(value.at((*outer[:-2], *inner, outer[-1])), wide)
        return call("mul", call("exp", off), own)

    name = draft.step(node, "weighted")
    mixed = draft.fold(name, node.shape, (keys,), weighted, monoid="sum", dtype=wide)
    return draft.pointwise(
        node.name,
        node.shape,
        node.dtype,
        lambda at: call("div", mixed.at(at), total.at(at[:-1])),
    )


def _masked(draft: Draft, args: Arguments, dots: Value, width: int) -> Value:
    """Write the scaled products; what may not be looked at is minus infinity."""
    scale = 1 / math.sqrt(width) if args.get("scale") is None else args.number("scale", 1.0)
    mask_ref = args.optional_ref("attn_mask")
    mask = None if mask_ref is None else draft.value(mask_ref)
    never = Const(-math.inf, dots.dtype)

    def body(at: At) -> Expr:
        score: Expr = call("mul", dots.at(at), Const(scale, dots.dtype))
        if mask is not None and mask.dtype == "bool":
            score = call("where", mask.broadcast(at), score, never)
        elif mask is not None:
            score = call("add", score, widened(mask.broadcast(at), dots.dtype))
        return (
            Select((at_least(at[-2], at[-1]),), score, never) if args.flag("is_causal") else score
        )

    return draft.pointwise(draft.step(args.node, "scores"), dots.shape, dots.dtype, body)


LOWERINGS = {"scaled_dot_product_attention": lower_attention}
