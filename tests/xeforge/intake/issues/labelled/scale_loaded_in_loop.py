# issues: loop_invariant_code 15 16; missing_autotune 24
"""A scale and its root are loaded and computed again in each turn of a loop."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, var_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        var = tl.load(var_ptr + row)
        inv = 1.0 / tl.sqrt(var + 1e-5)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
        tl.store(y_ptr + row * n_cols + cols, x * inv, mask=cols < n_cols)


class Model(nn.Module):
    def forward(self, x, var):
        y = torch.empty_like(x)
        normalize[(x.shape[0],)](x, var, y, x.shape[1], BLOCK=1024)
        return y
