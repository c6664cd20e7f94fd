"""Which members of torch compute, and which only allocate, describe or view."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FREE_TORCH = _words(
    """
    empty empty_like empty_strided zeros zeros_like ones ones_like full full_like tensor as_tensor
    as_strided asarray device dtype Size Tensor Generator finfo iinfo is_tensor
    is_floating_point is_complex is_grad_enabled no_grad inference_mode enable_grad set_grad_enabled
    get_default_dtype get_device_module result_type promote_types can_cast numel typename
    view_as_real view_as_complex reshape flatten unflatten squeeze unsqueeze transpose permute
    movedim swapaxes t broadcast_shapes broadcast_to narrow select unbind split chunk
    rand randn randint randperm rand_like randn_like normal manual_seed Stream Event
    """
)
"""Members of ``torch`` that allocate, describe or view; everything else computes."""
FREE_PREFIXES = (
    "torch.nn.init.",
    "torch.nn.Parameter",
    "torch.nn.parameter.",
    "torch.nn.Buffer",
    "torch.nn.Module",
    "torch.cuda.",
    "torch.xpu.",
    "torch.cpu.",
    "torch.mps.",
    "torch.accelerator.",
    "torch.backends.",
    "torch.autograd.",
    "torch.version.",
    "torch.library.",
    "torch.jit.ignore",
    "torch.jit.unused",
    "torch.Tensor.",
    "torch.device.",
    "torch.Size.",
    "torch._assert",
    "torch.compiler.",
    "torch.overrides.",
)
COMPUTING_METHODS = _words(
    """
    matmul mm bmm addmm addmv baddbmm addbmm mv dot ger outer einsum softmax log_softmax
    logsumexp sigmoid tanh relu gelu silu exp exp2 log log2 sqrt rsqrt pow square abs sin cos
    erf sum mean var std prod amax amin argmax argmin cumsum cumprod norm layer_norm
    mul mul_ add_ sub_ div div_ addcmul addcdiv lerp clamp clamp_ clip where masked_fill
    masked_fill_ softmax_ sigmoid_ relu_ tanh_ exp_ sqrt_ topk gather scatter scatter_
    scatter_add scatter_add_ index_select index_add index_add_ take tril triu
    conv1d conv2d conv3d maximum minimum reciprocal neg logical_and logical_or logical_not
    bitwise_and bitwise_or cross kron trace inverse cholesky svd quantile median unique numpy
    """
)
"""Tensor methods that compute, or hand values to numpy, which does; names that containers have too
(``add``, ``sort``) are left to the run, which counts the operators a call really made."""
COMPUTING_FUNCTIONS = COMPUTING_METHODS | _words(
    """
    add sub max min all any sort argsort round floor ceil cat stack roll flip where eq ne lt gt
    """
)
"""Members of ``torch`` that compute; here a name cannot be a container's."""
COMPILING = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace", "torch.vmap"})
"""Functions that make others compute, also as decorators."""
COMPUTING_PREFIXES = ("torch.nn.functional.", "torch.ops.", "torch.special.", "torch.linalg.")
"""Parts of torch in which everything computes."""
