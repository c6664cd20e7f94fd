# issues: uncoalesced_access 17; missing_autotune 25
"""The column of each program is read through a stride that the launch takes from rows."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_max(x_ptr, y_ptr, n_rows, step, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, n_rows, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        best = tl.maximum(
            best, tl.load(x_ptr + rows * step + col, mask=rows < n_rows, other=float("-inf"))
        )
    tl.store(y_ptr + col, tl.max(best, axis=0))


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[1], device=x.device, dtype=torch.float32)
        column_max[(x.shape[1],)](x, y, x.shape[0], x.stride(0), BLOCK=256)
        return y
