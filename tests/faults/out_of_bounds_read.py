"""Row sums; the load has no mask, so the last row reads past the end of the matrix."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns)
    x = tl.where(columns < n_columns, x, 0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


class Model(nn.Module):
    def forward(self, x):
        n_rows, n_columns = x.shape
        y = torch.empty(n_rows, device=x.device, dtype=x.dtype)
        row_sum_kernel[(n_rows,)](x, y, n_columns, BLOCK=64)
        return y
