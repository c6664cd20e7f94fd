"""A softmax that rescales its running sum, so that each row is read twice."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * COLS
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -1.0e38, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, COLS, BLOCK):
        x = tl.load(x_ptr + base + start + lanes, mask=start + lanes < COLS, other=float("-inf"))
        higher = tl.maximum(top, x)
        total = total * tl.exp(top - higher) + tl.exp(x - higher)
        top = higher
    peak = tl.max(top, axis=0)
    scale = 1.0 / tl.sum(total * tl.exp(top - peak), axis=0)
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        x = tl.load(x_ptr + base + start + lanes, mask=inside, other=float("-inf"))
        tl.store(y_ptr + base + start + lanes, tl.exp(x - peak) * scale, mask=inside)


def run(x):
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=2048, num_warps=8)
    return y
