# issues: unfused_reduction 31
"""A kernel writes an activation that another one reduces."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.maximum(tl.load(x_ptr + offs, mask=offs < n), 0.0), mask=offs < n)


@triton.jit
def row_sum(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


class Model(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        block = triton.next_power_of_2(cols)
        hidden = torch.empty_like(x)
        relu[(triton.cdiv(x.numel(), block),)](x, hidden, x.numel(), BLOCK=block)
        out = torch.empty(rows, device=x.device, dtype=x.dtype)
        row_sum[(rows,)](hidden, out, cols, BLOCK=block)
        return out
