"""Arguments of operators by name, in the order of their schemas."""

from collections.abc import Mapping

from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node

_RANKS = (1, 2, 3)
_DIM = ("self", "dim", "keepdim")
_BATCH_NORM = (
    *("input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps"),
    "cudnn_enabled",
)
_AVERAGE = (
    *("self", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"),
    "divisor_override",
)
_CONVOLUTION = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_TRANSPOSED = (
    *("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"),
)

NAMES: Mapping[str, tuple[str, ...]] = {
    "linear": ("input", "weight", "bias"),
    "matmul": ("self", "other"),
    **dict.fromkeys(("mm", "bmm"), ("self", "other")),
    "mv": ("self", "other"),
    "dot": ("self", "other"),
    "addmm": ("self", "mat1", "mat2", "beta", "alpha"),
    "baddbmm": ("self", "mat1", "mat2", "beta", "alpha"),
    **{f"conv{rank}d": _CONVOLUTION for rank in _RANKS},
    **{f"conv_transpose{rank}d": _TRANSPOSED for rank in _RANKS},
    **dict.fromkeys(("sum", "mean", "prod"), (*_DIM, "dtype")),
    **dict.fromkeys(("amax", "amin", "max", "min"), _DIM),
    "logsumexp": (*_DIM, "is_bounded"),
    **dict.fromkeys(
        ("var", "std", "var_mean"), ("self", "dim", "unbiased", "keepdim", "correction")
    ),
    **dict.fromkeys(("softmax", "log_softmax"), ("self", "dim", "dtype", "is_bounded")),
    "layer_norm": ("input", "normalized_shape", "weight", "bias", "eps", "cudnn_enable"),
    "rms_norm": ("input", "normalized_shape", "weight", "eps"),
    "group_norm": ("input", "num_groups", "weight", "bias", "eps", "cudnn_enabled"),
    "batch_norm": _BATCH_NORM,
    "instance_norm": tuple("use_input_stats" if n == "training" else n for n in _BATCH_NORM),
    **{
        f"max_pool{rank}d": ("self", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
        for rank in _RANKS
    },
    **{f"avg_pool{rank}d": _AVERAGE for rank in _RANKS},
    **{f"adaptive_avg_pool{rank}d": ("self", "output_size") for rank in _RANKS},
    **dict.fromkeys(("add", "sub", "rsub"), ("self", "other", "alpha")),
    "div": ("self", "other", "rounding_mode"),
    **dict.fromkeys(("mul", "minimum", "maximum"), ("self", "other")),
    "pow": ("self", "exponent"),
    "clamp": ("self", "min", "max"),
    "clamp_min": ("self", "min"),
    "clamp_max": ("self", "max"),
    "hardtanh": ("self", "min_val", "max_val"),
    "gelu": ("self", "approximate"),
    "softplus": ("self", "beta", "threshold"),
    "leaky_relu": ("self", "negative_slope"),
    "elu": ("self", "alpha", "scale", "input_scale"),
    "celu": ("self", "alpha"),
    "threshold": ("self", "threshold", "value"),
    "to": ("self", "dtype"),
    **dict.fromkeys(("view", "reshape"), ("self", "size")),
    "expand": ("self", "size"),
    **dict.fromkeys(("expand_as", "view_as"), ("self", "other")),
    "flatten": ("self", "start_dim", "end_dim"),
    "unflatten": ("self", "dim", "sizes"),
    **dict.fromkeys(("squeeze", "unsqueeze"), ("self", "dim")),
    "permute": ("self", "dims"),
    "slice": ("self", "dim", "start", "end", "step"),
    "narrow": ("self", "dim", "start", "length"),
    "select": ("self", "dim", "index"),
    "chunk": ("self", "chunks", "dim"),
    "split": ("self", "split_size", "dim"),
    "split_with_sizes": ("self", "split_sizes", "dim"),
    **dict.fromkeys(("cat", "stack"), ("tensors", "dim")),
    "pad": ("self", "pad", "mode", "value"),
    "full": ("size", "fill_value"),
    **dict.fromkeys(("ones", "zeros"), ("size",)),
}
"""Of operators that the algebra looks into; others are left as they are."""


def bound(node: Node) -> Mapping[str, Arg]:
    """Return the given arguments by name; a pointwise operator not listed has ``self`` only."""
    return bind(node.op, node.args, node.kwargs)


def bind(op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg]) -> Mapping[str, Arg]:
    """Return arguments by name."""
    names = NAMES.get(op, ("self",) if FAMILIES.get(op) is Family.POINTWISE else ())
    return {**dict(zip(names, args, strict=False)), **kwargs}


def spread(value: Arg, rank: int, default: int) -> tuple[int, ...]:
    """Return one integer per spatial axis; a single one counts for all."""
    if value is None or value == ():
        return (default,) * rank
    if isinstance(value, int):
        return (value,) * rank
    found = integers(value)
    return found * rank if len(found) == 1 else found


def integers(value: Arg) -> tuple[int, ...]:
    """Return the integers of an argument; a single one is a list of one.

    Raises:
        ValueError: It is no list of integers.
    """
    if isinstance(value, int):
        return (int(value),)
    if isinstance(value, tuple):
        found = tuple(each for each in value if isinstance(each, int))
        if len(found) == len(value):
            return found
    raise ValueError(f"{value!r} is no list of integers")
