"""The one list of operators that a graph may hold, by ATen name without overload.

Covered means: captured whole, with known meaning. What is not listed is refused by name.
"""

from collections.abc import Mapping
from enum import StrEnum


class Family(StrEnum):
    """What an operator does, as far as planning cares."""

    POINTWISE = "pointwise"
    CONTRACTION = "contraction"
    CONVOLUTION = "convolution"
    REDUCTION = "reduction"
    SOFTMAX = "softmax"
    NORM = "norm"
    POOL = "pool"
    LOSS = "loss"
    ATTENTION = "attention"
    LAYOUT = "layout"


_MEMBERS: Mapping[Family, str] = {
    Family.POINTWISE: """
        abs add addcdiv addcmul ceil celu clamp clamp_max clamp_min cos div elu eq erf exp exp2
        expm1 floor full full_like ge gelu gt hardshrink hardsigmoid hardswish hardtanh le
        leaky_relu lerp log log10 log1p log2 log_sigmoid logical_and logical_not logical_or lt
        masked_fill maximum minimum mish mul ne neg ones ones_like pow prelu reciprocal relu relu6
        round rsqrt rsub selu sigmoid sign silu sin softplus softshrink sqrt square sub tan tanh
        threshold to tril triu trunc where zeros zeros_like
    """,
    Family.CONTRACTION: "addmm baddbmm bilinear bmm dot einsum linear matmul mm mv outer",
    Family.CONVOLUTION: """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    """,
    Family.REDUCTION: """
        amax amin linalg_vector_norm logsumexp max mean min norm prod std sum var var_mean
    """,
    Family.SOFTMAX: "log_softmax softmax",
    Family.NORM: "batch_norm group_norm instance_norm layer_norm rms_norm",
    Family.POOL: """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d
        avg_pool3d max_pool1d max_pool2d max_pool3d
    """,
    Family.LOSS: """
        binary_cross_entropy binary_cross_entropy_with_logits cosine_similarity cross_entropy_loss
        huber_loss kl_div l1_loss mse_loss nll_loss_nd smooth_l1_loss
    """,
    Family.ATTENTION: "scaled_dot_product_attention",
    Family.LAYOUT: """
        cat chunk expand expand_as flatten narrow pad permute reshape select slice squeeze stack
        split split_with_sizes unflatten unsqueeze view view_as
    """,
}

FAMILIES: Mapping[str, Family] = {
    name: family for family, names in _MEMBERS.items() for name in names.split()
}
"""Family of each covered operator."""

RENAMED: Mapping[tuple[str, str], str] = {
    ("max", "other"): "maximum",
    ("min", "other"): "minimum",
    ("subtract", ""): "sub",
    ("multiply", ""): "mul",
    ("divide", ""): "div",
    ("true_divide", ""): "div",
    ("negative", ""): "neg",
    ("absolute", ""): "abs",
    ("clip", ""): "clamp",
    ("_to_copy", ""): "to",
    ("type_as", ""): "to",
    ("concat", ""): "cat",
    ("_unsafe_view", ""): "view",
    ("special_expm1", ""): "expm1",
    ("special_erf", ""): "erf",
    ("__and__", ""): "logical_and",
    ("bitwise_and", ""): "logical_and",
    ("__or__", ""): "logical_or",
    ("bitwise_or", ""): "logical_or",
    ("bitwise_not", ""): "logical_not",
}
"""Names that mean another operator: by overload, or (``""``) in every overload.

Bitwise operators mean the logical ones, since booleans are the only integers there are here.
"""

TRANSPOSITIONS = frozenset({"permute", "transpose", "swapaxes", "swapdims", "t", "numpy_T", "mT"})
"""Written as ``permute`` with all dimensions named."""

SAME_VALUE = frozenset(
    {
        "alias",
        "clone",
        "contiguous",
        "detach",
        "lift",
        "lift_fresh",
        "lift_fresh_copy",
        "positive",
    }
)
"""Give back what they are given; dropped."""

FRESH_COPIES = frozenset({"clone", "lift_fresh_copy", "_to_copy"})
"""Of those that may be dropped, the ones whose result has memory of its own."""

MAY_SHARE = frozenset({"contiguous", "einsum", "pad", "to"})
"""Their result lies in the memory of an argument in some cases, which the schema does not say."""

ASSERTIONS = frozenset({"_assert_tensor_metadata"})
"""Left by the exporter; hold for the shapes and dtypes captured."""

DROPOUTS = frozenset({"alpha_dropout", "dropout", "feature_alpha_dropout", "feature_dropout"})
"""Random in train mode with a probability above zero, else dropped."""

COMPARISONS = frozenset(
    {"eq", "ge", "gt", "le", "logical_and", "logical_not", "logical_or", "lt", "ne"}
)
"""Their results are booleans, which are allowed nowhere else."""

CLASS_TARGETS = frozenset({"cross_entropy_loss", "nll_loss_nd"})
"""Losses whose second argument may be an int64 input: the class of each row."""
