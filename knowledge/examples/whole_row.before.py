"""A layer norm that reads each row three times."""

import torch
import triton
import triton.language as tl


@triton.jit
def normalise(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    base = tl.program_id(0) * COLS
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, COLS, BLOCK):
        total += tl.load(x_ptr + base + start + lanes, mask=start + lanes < COLS, other=0.0)
    mean = tl.sum(total, axis=0) / COLS
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        x = tl.load(x_ptr + base + start + lanes, mask=inside, other=0.0)
        apart = tl.where(inside, x - mean, 0.0)
        squares += apart * apart
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / COLS + 1e-5)
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        x = tl.load(x_ptr + base + start + lanes, mask=inside, other=0.0)
        tl.store(y_ptr + base + start + lanes, (x - mean) * scale, mask=inside)


def run(x):
    y = torch.empty_like(x)
    normalise[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
    return y
