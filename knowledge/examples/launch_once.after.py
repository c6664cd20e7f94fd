"""Launches it once."""

import torch
import triton
import triton.language as tl


@triton.jit
def peak(x_ptr, y_ptr, COLS, ROWS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, COLS, BLOCK):
        x = tl.load(x_ptr + row * COLS + start + lanes, mask=start + lanes < COLS, other=float("-inf"))
        top = tl.maximum(top, x)
    found = tl.max(top, axis=0)
    tl.store(y_ptr + row, found)
    tl.store(y_ptr + ROWS + row, found)


def run(x):
    y = torch.empty((2, x.shape[0]), device=x.device)
    peak[(x.shape[0],)](x, y, x.shape[1], x.shape[0], BLOCK=1024)
    return y
