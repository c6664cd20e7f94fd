"""Accumulates in float64."""

import torch
import triton
import triton.language as tl


@triton.jit
def squares(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, COLS, BLOCK):
        x = tl.load(x_ptr + row * COLS + start + lanes, mask=start + lanes < COLS, other=0.0)
        wide = x.to(tl.float64)
        total += wide * wide
    tl.store(y_ptr + row, tl.sum(total, axis=0).to(tl.float32))


def run(x):
    y = torch.empty((x.shape[0],), device=x.device, dtype=torch.float32)
    squares[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
    return y
