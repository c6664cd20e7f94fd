# issues: none
"""Looks like arithmetic that does nothing, but does something."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def honest(x_ptr, y_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    x = tl.load(x_ptr + offs, mask=m)
    y = tl.load(y_ptr + offs, mask=m)
    a = x * scale + 1
    b = tl.log(1.0 + tl.exp(y))
    c = tl.exp(a) / (b + tl.exp(x))
    d = tl.sqrt(x * y)
    tl.store(out_ptr + offs, c + d, mask=m)


class Model(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 2048))
        honest[(triton.cdiv(n, block),)](x, y, out, n, 1.0, BLOCK=block)
        return out
