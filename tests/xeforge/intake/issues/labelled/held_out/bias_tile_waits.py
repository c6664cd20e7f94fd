# issues: no_swizzling 31; long_liveness 35; missing_tma 40; missing_block_pointers 40; missing_persistent 66
"""A bias row and a mask are loaded before the product, one used inside, one after."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 128, "BK": 32}, num_warps=4, num_stages=4),
        triton.Config({"BM": 128, "BN": 128, "BK": 32}, num_warps=8, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def fused(
    a_ptr,
    b_ptr,
    bias_ptr,
    scale_ptr,
    c_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    bias = tl.load(bias_ptr + rn, mask=rn < N, other=0.0)
    scale = tl.load(scale_ptr + rm, mask=rm < M, other=0.0)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rm[:, None] * K + rk[None, :],
            mask=(rm[:, None] < M) & (rk[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + rk[:, None] * N + rn[None, :],
            mask=(rk[:, None] < K) & (rn[None, :] < N),
            other=0.0,
        )
        acc = tl.dot((a * scale[:, None]).to(a.dtype), b, acc)
    out = acc + bias[None, :]
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :],
        out.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )


class Model(nn.Module):
    def forward(self, a, b, bias, scale):
        c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
        grid = lambda meta: (
            triton.cdiv(a.shape[0], meta["BM"]),
            triton.cdiv(b.shape[1], meta["BN"]),
        )
        fused[grid](a, b, bias, scale, c, a.shape[0], b.shape[1], a.shape[1])
        return c
