"""Launches the same kernel twice on the same data."""

import torch
import triton
import triton.language as tl


@triton.jit
def peak(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, COLS, BLOCK):
        x = tl.load(x_ptr + row * COLS + start + lanes, mask=start + lanes < COLS, other=float("-inf"))
        top = tl.maximum(top, x)
    tl.store(y_ptr + row, tl.max(top, axis=0))


def run(x):
    one = torch.empty((x.shape[0],), device=x.device)
    two = torch.empty((x.shape[0],), device=x.device)
    peak[(x.shape[0],)](x, one, x.shape[1], BLOCK=1024)
    peak[(x.shape[0],)](x, two, x.shape[1], BLOCK=1024)
    return torch.stack((one, two))
