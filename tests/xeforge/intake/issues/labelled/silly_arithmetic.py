# issues: algebraic_simplification 16 17 18
"""Arithmetic that does nothing."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silly(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    x = tl.load(x_ptr + offs, mask=m)
    y = tl.load(y_ptr + offs, mask=m)
    a = x * 1.0
    b = tl.log(tl.exp(y))
    c = tl.exp(a) / tl.exp(b)
    tl.store(out_ptr + offs, c, mask=m)


class Model(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 2048))
        silly[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
        return out
