# issues: none
"""One tile per row, weights read once per program: nothing to say."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _sq_mean(v, n):
    return tl.sum(v * v, axis=0) / n


@triton.jit
def rms(x_ptr, w_ptr, y_ptr, row_stride, n, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    ok = c < n
    v = tl.load(x_ptr + r * row_stride + c, mask=ok, other=0.0).to(tl.float32)
    inv = tl.rsqrt(_sq_mean(v, n) + eps)
    w = tl.load(w_ptr + c, mask=ok, other=0.0).to(tl.float32)
    tl.store(y_ptr + r * row_stride + c, (v * inv * w).to(y_ptr.dtype.element_ty), mask=ok)


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        y = torch.empty_like(flat)
        width = flat.shape[-1]
        warps = 4 if width <= 2048 else 16
        rms[(flat.shape[0],)](
            flat,
            self.weight,
            y,
            flat.stride(0),
            width,
            1e-6,
            BLOCK=triton.next_power_of_2(width),
            num_warps=warps,
        )
        return y.view_as(x)
