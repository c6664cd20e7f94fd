# issues: algebraic_simplification 16 18; common_subexpression 17; missing_autotune 26; suboptimal_tile_size 26
"""A polynomial with arithmetic that does nothing and a root that is taken twice."""

import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language import sqrt as root


@triton.jit
def poly(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = offs < n
    x = tl.load(x_ptr + offs, mask=ok)
    a = root(x) + 0.0
    b = a / root(x)
    c = tl.exp(tl.log(b))
    tl.store(y_ptr + offs, a + b * c, mask=ok)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        poly[(triton.cdiv(n, 32),)](x, y, n, BLOCK=32)
        return y
