"""Loads and exponentiates the row's scale in every turn."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled(x_ptr, s_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        factor = tl.exp(tl.load(s_ptr + row))
        x = tl.load(x_ptr + row * COLS + start + lanes, mask=inside)
        tl.store(y_ptr + row * COLS + start + lanes, x * factor, mask=inside)


def run(x, scale):
    y = torch.empty_like(x)
    scaled[(x.shape[0],)](x, scale, y, x.shape[1], BLOCK=512)
    return y
