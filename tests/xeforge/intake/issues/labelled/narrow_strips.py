# issues: uncoalesced_access 17; manual_pointer_arithmetic 20; missing_autotune 28
"""Strips of sixteen columns: each row gives a lane group a few bytes."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    rows = tl.arange(0, ROWS)
    ptrs = x_ptr + rows[:, None] * n_cols + cols[None, :]
    acc = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for start in range(0, n_rows, ROWS):
        acc += tl.load(
            ptrs, mask=(start + rows[:, None] < n_rows) & (cols[None, :] < n_cols), other=0.0
        )
        ptrs += ROWS * n_cols
    tl.store(y_ptr + cols, tl.sum(acc, axis=0), mask=cols < n_cols)


class Model(nn.Module):
    def forward(self, x):
        m, n = x.shape
        y = torch.empty(n, device=x.device, dtype=torch.float32)
        column_sum[(triton.cdiv(n, 16),)](x, y, m, n, ROWS=64, COLS=16)
        return y
