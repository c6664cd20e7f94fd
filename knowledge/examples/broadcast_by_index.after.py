"""Reads the bias at the column's index."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, b_ptr, y_ptr, COUNT, COLS, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    total = tl.load(x_ptr + at, mask=inside) + tl.load(b_ptr + at % COLS, mask=inside)
    tl.store(y_ptr + at, total, mask=inside)


def run(x, bias):
    y = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 1024),)](x, bias, y, x.numel(), x.shape[1], BLOCK=1024)
    return y
