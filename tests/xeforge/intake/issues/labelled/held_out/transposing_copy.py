# issues: missing_autotune 23
"""A transposition: one side must be strided, and both sides are two-dimensional tiles."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, y_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = (rm[:, None] < m) & (rn[None, :] < n)
    t = tl.load(x_ptr + rm[:, None] * n + rn[None, :], mask=ok)
    tl.store(y_ptr + rn[None, :] * m + rm[:, None], t, mask=ok)


class Model(nn.Module):
    def forward(self, x):
        m, n = x.shape
        y = torch.empty((n, m), device=x.device, dtype=x.dtype)
        transpose[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, y, m, n, 64, 64)
        return y
