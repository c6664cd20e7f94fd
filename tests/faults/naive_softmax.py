"""Softmax without subtracting the row maximum: overflows to NaN for large inputs."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=float("-inf"))
    numerator = tl.exp(x)
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)


class Model(nn.Module):
    def forward(self, x):
        n_rows, n_columns = x.shape
        y = torch.empty_like(x)
        softmax_kernel[(n_rows,)](x, y, n_columns, BLOCK=triton.next_power_of_2(n_columns))
        return y
