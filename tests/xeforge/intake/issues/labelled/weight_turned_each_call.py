# issues: repack_in_forward 26
"""A weight is turned into a copy on each call."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rows_times(x_ptr, w_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    m = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=m)
    w = tl.load(w_ptr + row * n_cols + cols, mask=m)
    tl.store(y_ptr + row * n_cols + cols, x * w, mask=m)


class Model(nn.Module):
    def __init__(self, m, n):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n, m))

    def forward(self, x):
        w = self.weight.t().contiguous()
        y = torch.empty_like(x)
        rows_times[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
