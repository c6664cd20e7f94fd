# issues: dtype_float64 18; dtype_input_conversion 18; missing_autotune 21
"""The host makes the input double precision first."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def half_it(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 0.5, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        wide = x.double()
        y = torch.empty_like(wide)
        n = x.numel()
        half_it[(triton.cdiv(n, 256),)](wide, y, n, BLOCK=256)
        return y
