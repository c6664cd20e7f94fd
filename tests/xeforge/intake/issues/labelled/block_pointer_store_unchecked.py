# issues: block_ptr_boundary_wrong 17; missing_autotune 25
"""The load is checked, the store is not."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double_rows(x_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS
    c = tl.program_id(1) * COLS
    src = tl.make_block_ptr(x_ptr, (n_rows, n_cols), (n_cols, 1), (r, c), (ROWS, COLS), (1, 0))
    dst = tl.make_block_ptr(y_ptr, (n_rows, n_cols), (n_cols, 1), (r, c), (ROWS, COLS), (1, 0))
    x = tl.load(src, boundary_check=(0, 1))
    tl.store(dst, x + x)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        m, n = x.shape
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 128))
        double_rows[grid](x, y, m, n, ROWS=16, COLS=128)
        return y
