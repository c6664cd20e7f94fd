"""Row sums that keep the summed dimension, unlike the reference."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


class Model(nn.Module):
    def forward(self, x):
        n_rows, n_columns = x.shape
        y = torch.empty((n_rows, 1), device=x.device, dtype=x.dtype)
        row_sum_kernel[(n_rows,)](x, y, n_columns, BLOCK=triton.next_power_of_2(n_columns))
        return y
