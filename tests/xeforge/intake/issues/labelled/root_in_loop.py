# issues: loop_invariant_code 16
"""The root of a value from outside is taken in each turn."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, var_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    var = tl.load(var_ptr + row)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inv = tl.rsqrt(var + eps)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
        tl.store(y_ptr + row * n_cols + cols, x * inv, mask=cols < n_cols)


class Model(nn.Module):
    def forward(self, x, var):
        y = torch.empty_like(x)
        block = min(4096, triton.next_power_of_2(x.shape[1]))
        normalize[(x.shape[0],)](x, var, y, x.shape[1], 1e-5, BLOCK=block)
        return y
