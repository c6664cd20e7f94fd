# issues: redundant_computation 24
"""The same launch with the same arguments stands there twice."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def square(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x * x, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 4096))
        grid = (triton.cdiv(n, block),)
        square[grid](x, y, n, BLOCK=block)
        square[grid](x, y, n, BLOCK=block)
        return y
