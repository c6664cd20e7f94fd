"""Each program copies a row."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, ROWS, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, COLS, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * COLS + cols, mask=cols < COLS)
        tl.store(y_ptr + row * COLS + cols, x + x, mask=cols < COLS)


def run(x):
    y = torch.empty_like(x)
    double[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=256)
    return y
