"""Each program copies a column, so that lanes are a row apart."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, ROWS, COLS, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    for start in range(0, ROWS, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + rows * COLS + col, mask=rows < ROWS)
        tl.store(y_ptr + rows * COLS + col, x + x, mask=rows < ROWS)


def run(x):
    y = torch.empty_like(x)
    double[(x.shape[1],)](x, y, x.shape[0], x.shape[1], BLOCK=256)
    return y
