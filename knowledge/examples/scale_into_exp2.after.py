"""Folds log2(e) into the scale and takes base-two exponentials."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, COLS, scale, BLOCK: tl.constexpr):
    base = tl.program_id(0) * COLS
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + base + cols, mask=cols < COLS, other=float("-inf")) * scale
    raised = tl.exp2(x - tl.max(x, axis=0))
    tl.store(y_ptr + base + cols, raised / tl.sum(raised, axis=0), mask=cols < COLS)


def run(x):
    y = torch.empty_like(x)
    scale = 0.125 * 1.4426950408889634
    softmax[(x.shape[0],)](x, y, x.shape[1], scale, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
