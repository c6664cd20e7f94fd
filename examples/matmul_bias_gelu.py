"""Linear layer with GELU, in two kernels: the product is written out and read back for the
bias and the activation. Program order is row by row, so weights are fetched again and again."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

TOKENS = 48
FEATURES_IN = 96
FEATURES_OUT = 80


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4, num_stages=2),
    ],
    key=["n_tokens", "n_out", "n_in"],
)
@triton.jit
def linear_kernel(
    x_ptr,
    w_ptr,
    y_ptr,
    n_tokens,
    n_out,
    n_in,
    stride_xm,
    stride_wn,
    stride_ym,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(0)
    blocks_n = tl.cdiv(n_out, BLOCK_N)
    pid_m = pid // blocks_n
    pid_n = pid % blocks_n
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, n_in, BLOCK_K):
        k = start + offs_k
        x = tl.load(
            x_ptr + offs_m[:, None] * stride_xm + k[None, :],
            mask=(offs_m[:, None] < n_tokens) & (k[None, :] < n_in),
            other=0.0,
        )
        # The weight is stored [out, in]: read it transposed.
        w = tl.load(
            w_ptr + offs_n[None, :] * stride_wn + k[:, None],
            mask=(offs_n[None, :] < n_out) & (k[:, None] < n_in),
            other=0.0,
        )
        acc = tl.dot(x, w, acc)

    y_ptrs = y_ptr + offs_m[:, None] * stride_ym + offs_n[None, :]
    y_mask = (offs_m[:, None] < n_tokens) & (offs_n[None, :] < n_out)
    tl.store(y_ptrs, acc.to(y_ptr.dtype.element_ty), mask=y_mask)


@triton.jit
def bias_gelu_kernel(y_ptr, bias_ptr, out_ptr, n_elements, n_out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    y = tl.load(y_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + offs % n_out, mask=mask, other=0.0).to(tl.float32)
    z = y + bias
    gelu = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))
    tl.store(out_ptr + offs, gelu.to(out_ptr.dtype.element_ty), mask=mask)


class Model(nn.Module):
    """Linear layer followed by the exact GELU.

    Args:
        features_in: Length of one token.
        features_out: Length of one output row.
    """

    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features_out, features_in) * features_in**-0.5)
        self.bias = nn.Parameter(torch.randn(features_out) * 0.1)

    def forward(self, x):
        n_tokens, n_in = x.shape
        n_out = self.weight.shape[0]
        y = torch.empty((n_tokens, n_out), device=x.device, dtype=x.dtype)
        grid = lambda meta: (
            triton.cdiv(n_tokens, meta["BLOCK_M"]) * triton.cdiv(n_out, meta["BLOCK_N"]),
        )
        linear_kernel[grid](
            x,
            self.weight,
            y,
            n_tokens,
            n_out,
            n_in,
            x.stride(0),
            self.weight.stride(0),
            y.stride(0),
        )
        out = torch.empty_like(y)
        n_elements = y.numel()
        bias_gelu_kernel[(triton.cdiv(n_elements, 256),)](
            y, self.bias, out, n_elements, n_out, BLOCK=256
        )
        return out


def get_inputs():
    return [torch.randn(TOKENS, FEATURES_IN)]


def get_init_inputs():
    return [FEATURES_IN, FEATURES_OUT]
