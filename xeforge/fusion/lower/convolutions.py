"""Convolutions and transposed convolutions: one fold with guarded reads, then the bias."""

from xeforge.fusion.front.graph import Node
from xeforge.fusion.ir import Expr
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.contractions import product
from xeforge.fusion.lower.contractions import with_bias
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype
from xeforge.fusion.lower.windows import Window

_FORWARD = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_TRANSPOSED = (
    *("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"),
)


def lower_convolution(draft: Draft, node: Node) -> Value:
    """Fold over the channels of a group and the taps of the window.

    A transposed convolution is gathered: each result looks for the inputs that reach it.
    """
    is_transposed = "transpose" in node.op
    args = Arguments(node, *(_TRANSPOSED if is_transposed else _FORWARD))
    value, weight = draft.value(args.ref("input")), draft.value(args.ref("weight"))
    rank = int(node.op[-2])
    if len(value.shape) != rank + 2:
        raise refuse(node, "an input without a batch is not covered")
    window = _window(args, value, weight, rank)
    groups = args.integer("groups", 1)
    inputs, outputs = value.shape[1] // groups, node.shape[1] // groups

    def body(outer: At, inner: At) -> Expr:
        batch, channel, *places = outer
        group = channel // outputs
        depth, tap = inner[0], inner[1:]
        at, guard = (window.gather if is_transposed else window.read)(tuple(places), tap)
        read = value.at((batch, group * inputs + depth, *at), guard)
        own = (group * inputs + depth, channel % outputs)
        matrix = own if is_transposed else (channel, depth)
        return product(read, weight.at((*matrix, *tap)), node.dtype)

    bias = args.optional_ref("bias")
    name = node.name if bias is None else draft.step(node, "product")
    dtype = node.dtype if bias is None else compute_dtype(node.dtype)
    over = (inputs, *window.kernel)
    total = draft.fold(name, node.shape, over, body, monoid="sum", dtype=dtype)
    return total if bias is None else with_bias(draft, node, total, draft.value(bias), 1)


def _window(args: Arguments, value: Value, weight: Value, rank: int) -> Window:
    kernel = weight.shape[2:]
    stride = args.spread("stride", rank, 1)
    dilation = args.spread("dilation", rank, 1)
    given = args.get("padding")
    if isinstance(given, str):
        if given not in {"same", "valid"}:
            raise refuse(args.node, f"padding {given!r} is not covered")
        reach = (spread * (size - 1) for spread, size in zip(dilation, kernel, strict=True))
        padding = tuple(each // 2 if given == "same" else 0 for each in reach)
    else:
        padding = args.spread("padding", rank, 0)
    return Window(value.shape[2:], kernel, stride, padding, dilation)


LOWERINGS = {
    f"{name}{rank}d": lower_convolution for name in ("conv", "conv_transpose") for rank in (1, 2, 3)
}
