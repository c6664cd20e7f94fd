# issues: associativity_reorder 23
"""A product of matrices is multiplied by a vector."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + 1.0, mask=offs < n)


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.direction = nn.Parameter(torch.randn(n))

    def forward(self, a, b):
        prod = torch.matmul(a, b)
        out = torch.mv(prod, self.direction)
        y = torch.empty_like(a)
        block = triton.next_power_of_2(min(a.numel(), 2048))
        copy_kernel[(triton.cdiv(a.numel(), block),)](a, y, a.numel(), BLOCK=block)
        return out, y
