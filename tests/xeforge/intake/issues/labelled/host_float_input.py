# issues: dtype_input_conversion 19
"""The host widens the input, which the kernel could do by itself."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cube(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x * x * x, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        x = x.to(torch.float32)
        y = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 2048))
        cube[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
        return y
