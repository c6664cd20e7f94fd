# issues: dtype_float64 14
"""Statistics of a row in double precision."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_mean(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float64)
    tl.store(out_ptr + row, (tl.sum(x, axis=0) / n_cols).to(tl.float32))


class Model(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
        row_mean[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
