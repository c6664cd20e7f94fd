"""Adds in registers and normalises."""

import torch
import triton
import triton.language as tl


@triton.jit
def norm(x_ptr, r_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    base = tl.program_id(0) * COLS
    lanes = tl.arange(0, BLOCK)
    inside = lanes < COLS
    x = tl.load(x_ptr + base + lanes, mask=inside, other=0.0)
    x += tl.load(r_ptr + base + lanes, mask=inside, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / COLS + 1e-6)
    tl.store(y_ptr + base + lanes, x * scale, mask=inside)


def run(x, residual):
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    norm[(x.shape[0],)](x, residual, y, x.shape[1], BLOCK=block, num_warps=8)
    return y
