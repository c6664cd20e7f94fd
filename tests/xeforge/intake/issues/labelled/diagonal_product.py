# issues: gemm_simplification 18
"""Rows are scaled by a product with a diagonal matrix."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def negate(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, -tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


class Model(nn.Module):
    def forward(self, d, x):
        z = torch.diag(d) @ x
        y = torch.empty_like(x)
        block = triton.next_power_of_2(min(x.numel(), 2048))
        negate[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
        return z, y
