# issues: none
"""Expanding makes no copy, and the kernel gets the strides; results may be put together."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, b_ptr, out_ptr, n_cols, s_bias, COLS: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, COLS)
    m = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=m)
    tl.store(
        out_ptr + row * n_cols + cols, x + tl.load(b_ptr + row * s_bias + cols, mask=m), mask=m
    )


class Model(nn.Module):
    def forward(self, x, bias):
        wide = bias.expand(x.shape[0], -1)
        out = torch.empty_like(x)
        add[(x.shape[0],)](
            x, wide, out, x.shape[1], wide.stride(0), COLS=triton.next_power_of_2(x.shape[1])
        )
        return torch.cat([out, bias])
