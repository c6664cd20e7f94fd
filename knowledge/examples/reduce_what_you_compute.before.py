"""Squares into memory, then sums."""

import torch
import triton
import triton.language as tl


@triton.jit
def square(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + at, x * x, mask=inside)


@triton.jit
def row_sum(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        total += tl.load(x_ptr + row * COLS + start + lanes, mask=inside, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


def run(x):
    squares = torch.empty_like(x)
    y = torch.empty((x.shape[0],), device=x.device)
    square[(triton.cdiv(x.numel(), 1024),)](x, squares, x.numel(), BLOCK=1024)
    row_sum[(x.shape[0],)](squares, y, x.shape[1], BLOCK=1024)
    return y
