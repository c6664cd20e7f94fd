"""Looks up rows of a table by index: integer input with a range."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather_kernel(table_ptr, index_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    source = tl.load(index_ptr + row)
    x = tl.load(table_ptr + source * n_columns + columns, mask=mask)
    tl.store(y_ptr + row * n_columns + columns, x, mask=mask)


class Model(nn.Module):
    def forward(self, table, index):
        n_columns = table.shape[1]
        y = torch.empty((index.shape[0], n_columns), device=table.device, dtype=table.dtype)
        block = triton.next_power_of_2(n_columns)
        gather_kernel[(index.shape[0],)](table, index, y, n_columns, BLOCK=block)
        return y
