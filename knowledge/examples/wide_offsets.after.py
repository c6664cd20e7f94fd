"""Moves the base of the row in 64 bits; offsets inside it stay narrow."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * COLS
    for start in range(0, COLS, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + cols, mask=cols < COLS)
        tl.store(y_ptr + base + cols, x + x, mask=cols < COLS)


def run(x):
    y = torch.empty_like(x)
    double[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
    return y
