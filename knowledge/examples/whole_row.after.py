"""A layer norm that holds the whole row."""

import torch
import triton
import triton.language as tl


@triton.jit
def normalise(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    base = tl.program_id(0) * COLS
    lanes = tl.arange(0, BLOCK)
    inside = lanes < COLS
    x = tl.load(x_ptr + base + lanes, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / COLS
    apart = tl.where(inside, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(apart * apart, axis=0) / COLS + 1e-5)
    tl.store(y_ptr + base + lanes, apart * scale, mask=inside)


def run(x):
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    normalise[(x.shape[0],)](x, y, x.shape[1], BLOCK=block, num_warps=8 if block >= 4096 else 4)
    return y
