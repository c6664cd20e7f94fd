"""Sum over the rows of a matrix, one strip of columns per program. The strips are so narrow
that a warp touches many rows at once, a few bytes of each."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

ROWS = 96
COLUMNS = 200


@triton.jit
def column_sum_kernel(
    x_ptr,
    out_ptr,
    n_rows,
    n_columns,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
):
    columns = tl.program_id(0) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    rows = tl.arange(0, BLOCK_ROWS)
    x_ptrs = x_ptr + rows[:, None] * n_columns + columns[None, :]
    acc = tl.zeros((BLOCK_ROWS, BLOCK_COLUMNS), dtype=tl.float32)
    for start in range(0, n_rows, BLOCK_ROWS):
        mask = (start + rows[:, None] < n_rows) & (columns[None, :] < n_columns)
        x = tl.load(x_ptrs, mask=mask, other=0.0)
        acc += x.to(tl.float32)
        x_ptrs += BLOCK_ROWS * n_columns
    total = tl.sum(acc, axis=0)
    tl.store(out_ptr + columns, total.to(out_ptr.dtype.element_ty), mask=columns < n_columns)


class Model(nn.Module):
    """Sums each column of a matrix."""

    def forward(self, x):
        n_rows, n_columns = x.shape
        out = torch.zeros(n_columns, device=x.device, dtype=x.dtype)
        block_columns = 16
        column_sum_kernel[(triton.cdiv(n_columns, block_columns),)](
            x, out, n_rows, n_columns, BLOCK_ROWS=16, BLOCK_COLUMNS=block_columns, num_warps=4
        )
        return out


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
