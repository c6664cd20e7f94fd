# issues: missing_boundary_check 14
"""The load is bounded, the store is not."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + offs, x * 2.0)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 512))
        scale[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
        return y
