# issues: missing_autotune 20; suboptimal_warps 20
"""One warp for a long block."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bump(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + 1, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        bump[(triton.cdiv(n, 8192),)](x, y, n, BLOCK=8192, num_warps=1)
        return y
