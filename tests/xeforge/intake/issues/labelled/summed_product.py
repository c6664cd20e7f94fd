# issues: gemm_simplification 23
"""Only the sums over the columns of a product are wanted."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, factor, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * factor, mask=offs < n)


class Model(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(b, a))

    def forward(self, x):
        s = torch.sum(F.linear(x, self.weight), dim=1)
        y = torch.empty_like(x)
        block = triton.next_power_of_2(min(x.numel(), 2048))
        scale[(triton.cdiv(x.numel(), block),)](x, y, 0.5, x.numel(), BLOCK=block)
        return s, y
