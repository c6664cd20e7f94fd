# issues: missing_autotune 22; suboptimal_tile_size 22
"""Blocks smaller than four warps."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

SIZE = 64


@triton.jit
def bump(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 64):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + 1, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        bump[(triton.cdiv(n, SIZE),)](x, y, n)
        return y
