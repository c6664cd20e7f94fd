# issues: none
"""A sigmoid that is prepared for the hardware's exponential."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sigmoid_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    y = 1.0 / (1.0 + tl.exp2(-1.4426950408889634 * x))
    tl.store(y_ptr + offs, y, mask=mask)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x, dtype=torch.float32)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 4096))
        sigmoid_kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
        return y
