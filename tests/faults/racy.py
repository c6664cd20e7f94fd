"""Column sums by load, add and store without atomics: programs overwrite each other's work."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_sum_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0)
    y = tl.load(y_ptr + columns, mask=mask, other=0.0)
    tl.store(y_ptr + columns, y + x, mask=mask)


class Model(nn.Module):
    def forward(self, x):
        n_rows, n_columns = x.shape
        y = torch.zeros(n_columns, device=x.device, dtype=x.dtype)
        column_sum_kernel[(n_rows,)](x, y, n_columns, BLOCK=triton.next_power_of_2(n_columns))
        return y
