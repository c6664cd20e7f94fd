# issues: associativity_reorder 25; redundant_computation 26; gemm_simplification 27
"""Products in the dear order, a repeated product and a sum of a product, then a kernel."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + 1, mask=offs < n)


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(n, n))
        self.w2 = nn.Parameter(torch.randn(n, n))
        self.v = nn.Parameter(torch.randn(n))

    def forward(self, x):
        h = torch.mm(x, self.w1)
        y = torch.mm(h, self.w2)
        z = torch.mm(x, self.w1)
        s = (x @ self.w2).sum(1)
        block = triton.next_power_of_2(min(y.numel(), 4096))
        add_one[(triton.cdiv(y.numel(), block),)](y, y.numel(), BLOCK=block)
        return y, z, s
