"""Insists on a format that the spec does not give."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x + x, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        assert x.dtype == torch.bfloat16, "x must be bfloat16"
        y = torch.empty_like(x)
        n = x.numel()
        double_kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
        return y
