# issues: block_ptr_multiple_of_misuse 29; block_ptr_boundary_wrong 30
"""Block pointers over rows, one axis unchecked on both ways, a hint on the pointer."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    src = tl.make_block_ptr(
        base=x_ptr,
        shape=(n_rows, n_cols),
        strides=(n_cols, 1),
        offsets=(first, 0),
        block_shape=(ROWS, COLS),
        order=(1, 0),
    )
    dst = tl.make_block_ptr(
        base=y_ptr,
        shape=(n_rows, n_cols),
        strides=(n_cols, 1),
        offsets=(first, 0),
        block_shape=(ROWS, COLS),
        order=(1, 0),
    )
    tl.max_contiguous(src, (1, COLS))
    x = tl.load(src, boundary_check=(0,))
    keep = tl.arange(0, COLS)[None, :] < n_cols
    x = tl.where(keep, x, float("-inf"))
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(dst, e / tl.sum(e, axis=1)[:, None], boundary_check=(0, 1))


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        m, n = x.shape
        softmax[(triton.cdiv(m, 4),)](x, y, m, n, ROWS=4, COLS=triton.next_power_of_2(n))
        return y
