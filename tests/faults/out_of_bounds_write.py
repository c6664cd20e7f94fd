"""Negates a vector; the store has no mask, so it runs past the end of the output."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def negate_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + offs, -x)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        negate_kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
        return y
