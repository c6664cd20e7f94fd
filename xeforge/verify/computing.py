"""Which members of torch compute, and which only allocate, describe or view."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FREE_TORCH = _words(
    """
    empty empty_like empty_strided empty_permuted zeros zeros_like ones ones_like full full_like
    tensor as_tensor as_strided asarray device dtype Size Tensor Generator finfo iinfo is_tensor
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
    "torch.__version__.",
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
    absolute acos acosh addr aminmax arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin
    asinh atan atan2 atanh bitwise_not bitwise_xor bincount cholesky_solve copysign count_nonzero
    cosh cov cummax cummin deg2rad digamma divide erfc erfinv expm1 float_power floor_divide fmax
    fmin fmod frac heaviside histc hypot index_copy index_fill index_put index_reduce inner
    kthvalue ldexp lgamma log10 log1p logaddexp logaddexp2 logcumsumexp logical_xor logit
    masked_scatter masked_select matrix_exp matrix_power msort multiply nan_to_num nanmean
    nanmedian nanquantile nansum negative polygamma prelu rad2deg renorm repeat_interleave rot90
    scatter_reduce sgn sign sinc sinh smm sspaddmm subtract take_along_dim tan true_divide trunc
    vdot xlogy
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
SHARED_WITH_RECORDS = _words("mean std var norm sum")
"""Of `COMPUTING_METHODS`: names that plain records have for values, so that only a call tells."""
EMPTY_MODULES = _words(
    "Module ModuleList ModuleDict ParameterList ParameterDict Sequential Identity Parameter Buffer"
)
"""Classes of ``torch.nn`` that hold others, or nothing; all others compute when called."""
NO_FUNCTIONS = FREE_TORCH | _words(
    """
    float float16 float32 float64 half bfloat16 double int int8 int16 int32 int64 uint8 uint16
    uint32 uint64 long short bool cfloat cdouble complex32 complex64 complex128 strided
    sparse_coo sparse_csr contiguous_format preserve_format channels_last channels_last_3d inf nan
    pi e newaxis nn cuda xpu cpu mps accelerator ops linalg special fft backends autograd jit
    compiler amp random func sparse nested distributions optim hub version types
    """
)
"""Members of ``torch`` that are values, parts or free: to keep one is not to keep arithmetic."""
COMPILING = frozenset(
    {
        "torch.compile",
        "torch.compiler.compile",
        "torch.jit.script",
        "torch.jit.trace",
        "torch.vmap",
        "torch.func.vmap",
    }
)
"""Functions that make others compute, also as decorators."""
COMPUTING_PREFIXES = (
    "torch.nn.functional.",
    "torch.ops.",
    "torch.special.",
    "torch.linalg.",
    "torch.fft.",
    "torch.autograd.functional.",
    "torch.nn.attention.",
)
"""Parts of torch in which everything computes."""
