"""Layer norm that computes mean, variance and result in three walks over the row. Statistics
are kept in float64 "to be safe", and the block is small."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

ROWS = 32
WIDTH = 320
BLOCK_SIZE = 128


@triton.jit
def layer_norm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    n_columns,
    stride_row,
    eps,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_row
    y_row = y_ptr + row * n_columns

    total = tl.zeros([BLOCK], dtype=tl.float64)
    for start in range(0, n_columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_columns, other=0.0).to(tl.float64)
        total += x
    mean = tl.sum(total, axis=0) / n_columns

    squares = tl.zeros([BLOCK], dtype=tl.float64)
    for start in range(0, n_columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_columns, other=0.0).to(tl.float64)
        centred = tl.where(cols < n_columns, x - mean, 0.0)
        squares += centred * centred
    variance = tl.sum(squares, axis=0) / n_columns
    scale = 1.0 / tl.sqrt(variance + eps)

    for start in range(0, n_columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_columns
        x = tl.load(x_row + cols, mask=mask, other=0.0).to(tl.float64)
        weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float64)
        bias = tl.load(bias_ptr + cols, mask=mask, other=0.0).to(tl.float64)
        y = (x - mean) * scale * weight + bias
        tl.store(y_row + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


class Model(nn.Module):
    """Layer norm over the last dimension with learned scale and shift.

    Args:
        width: Length of a row.
        eps: Added to the variance.
    """

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))
        self.eps = eps

    def forward(self, x):
        n_rows, n_columns = x.shape
        y = torch.empty((n_rows, n_columns), device=x.device, dtype=x.dtype)
        layer_norm_kernel[(n_rows,)](
            x,
            self.weight,
            self.bias,
            y,
            n_columns,
            x.stride(0),
            self.eps,
            BLOCK=BLOCK_SIZE,
        )
        return y


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH, 1e-5]
