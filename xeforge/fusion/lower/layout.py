"""Operators that only say where elements are: views become indices; joins become one statement."""

import math
from collections.abc import Callable
from collections.abc import Sequence

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import below
from xeforge.fusion.affine import number
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.functions import cast
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value


def _source(draft: Draft, node: Node) -> Value:
    first = node.args[0] if node.args else None
    if not isinstance(first, Ref):
        raise refuse(node, "what is viewed is no tensor")
    return draft.value(first)


def lower_reshape(draft: Draft, node: Node) -> Value:
    """View the elements, in row-major order, in another shape."""
    value = _source(draft, node)
    if math.prod(value.shape) != math.prod(node.shape):
        raise refuse(node, f"{list(value.shape)} has other elements than {list(node.shape)}")

    def of(at: At) -> list[Affine]:
        return _unflattened(_flattened(at, node.shape), value.shape)

    return value.viewed(node.shape, of)


def _flattened(at: At, shape: Sequence[int]) -> Affine:
    total = number(0)
    for each, size in zip(at, shape, strict=True):
        total = total * size + each
    return total


def _unflattened(flat: Affine, shape: Sequence[int]) -> list[Affine]:
    strides = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    return [
        number(0) if size == 1 else (flat // stride) % size
        for stride, size in zip(strides, shape, strict=True)
    ]


def lower_permute(draft: Draft, node: Node) -> Value:
    """Put the dimensions in another order."""
    value = _source(draft, node)
    rank = len(value.shape)
    args = Arguments(node, "self", "dims")
    order = [each % rank for each in args.integers("dims", ())]
    return value.viewed(node.shape, lambda at: [at[order.index(place)] for place in range(rank)])


def lower_expand(draft: Draft, node: Node) -> Value:
    """Repeat dimensions of size 1, and add leading ones."""
    value = _source(draft, node)
    lead = len(node.shape) - len(value.shape)

    def of(at: At) -> list[Affine]:
        return [
            number(0) if size == 1 else each
            for each, size in zip(at[lead:], value.shape, strict=True)
        ]

    return value.viewed(node.shape, of)


def lower_slice(draft: Draft, node: Node) -> Value:
    """Take every `step`-th element of one dimension."""
    value = _source(draft, node)
    args = Arguments(node, "self", "dim", "start", "end", "step")
    place = args.integer("dim", 0) % len(value.shape)
    size = value.shape[place]
    start = args.integer("start") if args.get("start") is not None else 0
    start = min(max(start + size if start < 0 else start, 0), size)
    return _stepped(value, node, place, start, args.integer("step", 1))


def lower_narrow(draft: Draft, node: Node) -> Value:
    """Take a stretch of one dimension."""
    value = _source(draft, node)
    args = Arguments(node, "self", "dim", "start", "length")
    place = args.integer("dim") % len(value.shape)
    return _stepped(value, node, place, args.integer("start") % value.shape[place], 1)


def _stepped(value: Value, node: Node, place: int, start: int, step: int) -> Value:
    def of(at: At) -> list[Affine]:
        return [each * step + start if here == place else each for here, each in enumerate(at)]

    return value.viewed(node.shape, of)


def lower_select(draft: Draft, node: Node) -> Value:
    """Take one position of a dimension, which disappears."""
    value = _source(draft, node)
    args = Arguments(node, "self", "dim", "index")
    place = args.integer("dim") % len(value.shape)
    index = number(args.integer("index") % value.shape[place])
    return value.viewed(node.shape, lambda at: [*at[:place], index, *at[place:]])


def lower_split(draft: Draft, node: Node) -> Value:
    """Take one of the stretches that a dimension is cut into; `Node.index` says which."""
    value = _source(draft, node)
    second = {"chunk": "chunks", "split": "split_size", "split_with_sizes": "split_sizes"}[node.op]
    args = Arguments(node, "self", second, "dim")
    place = args.integer("dim", 0) % len(value.shape)
    size = value.shape[place]
    cuts = args.integers(second)
    if node.op == "chunk":
        cuts = (-(-size // cuts[0]),)
    index = node.index or 0
    start = sum(cuts[:index]) if isinstance(args.get(second), tuple) else cuts[0] * index
    return _stepped(value, node, place, start, 1)


def lower_join(draft: Draft, node: Node) -> Value:
    """Write values one after the other (``cat``) or along a new dimension (``stack``)."""
    args = Arguments(node, "tensors", "dim")
    refs = args.get("tensors")
    if not isinstance(refs, tuple) or not refs:
        raise refuse(node, "joins no list of tensors")
    values = [draft.value(each) for each in refs if isinstance(each, Ref)]
    place = args.integer("dim", 0) % len(node.shape)
    if node.op == "stack":
        values = [_unsqueezed(each, place) for each in values]
    if any(len(each.shape) != len(node.shape) for each in values):
        raise refuse(node, "joins tensors of different rank")

    def body(at: At) -> Expr:
        starts = [sum(each.shape[place] for each in values[:count]) for count in range(len(values))]
        result: Expr | None = None
        for value, start in reversed(list(zip(values, starts, strict=True))):
            own = (*at[:place], at[place] - start, *at[place + 1 :])
            inside = (at_least(own[place], 0), below(own[place], value.shape[place]))
            read = cast(value.at(own, inside), node.dtype)
            result = read if result is None else Select(inside, read, result)
        return result if result is not None else Const(0.0, node.dtype)

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def _unsqueezed(value: Value, place: int) -> Value:
    shape = (*value.shape[:place], 1, *value.shape[place:])
    return value.viewed(shape, lambda at: [*at[:place], *at[place + 1 :]])


def lower_pad(draft: Draft, node: Node) -> Value:
    """Surround with a number; other paddings are refused."""
    args = Arguments(node, "self", "pad", "mode", "value")
    value = draft.value(args.ref("self"))
    if args.get("mode", "constant") != "constant":
        raise refuse(node, f"padding {args.get('mode')!r} is not covered")
    pads = args.integers("pad")
    fill = 0.0 if args.get("value") is None else args.number("value", 0.0)
    before = [0] * len(value.shape)
    for count in range(len(pads) // 2):
        before[len(before) - 1 - count] = pads[2 * count]

    def body(at: At) -> Expr:
        own = tuple(each - low for each, low in zip(at, before, strict=True))
        lows = [at_least(each, 0) for each in own]
        highs = [below(each, size) for each, size in zip(own, value.shape, strict=True)]
        return value.at(own, (*lows, *highs), fill)

    return draft.pointwise(node.name, node.shape, node.dtype, body)


_RESHAPES = ("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as")
LOWERINGS: dict[str, Callable[[Draft, Node], Value]] = {
    **dict.fromkeys(_RESHAPES, lower_reshape),
    "permute": lower_permute,
    **dict.fromkeys(("expand", "expand_as"), lower_expand),
    "slice": lower_slice,
    "narrow": lower_narrow,
    "select": lower_select,
    **dict.fromkeys(("chunk", "split", "split_with_sizes"), lower_split),
    **dict.fromkeys(("cat", "stack"), lower_join),
    "pad": lower_pad,
}
