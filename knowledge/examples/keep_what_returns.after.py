"""Keeps what returns and lets go of what does not."""

import torch
import triton
import triton.language as tl


@triton.jit
def centred(x_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        total += tl.load(x_ptr + row * COLS + start + lanes, mask=inside, other=0.0, eviction_policy="evict_last")
    mean = tl.sum(total, axis=0) / COLS
    for start in range(0, COLS, BLOCK):
        inside = start + lanes < COLS
        x = tl.load(x_ptr + row * COLS + start + lanes, mask=inside, other=0.0, eviction_policy="evict_first")
        tl.store(y_ptr + row * COLS + start + lanes, x - mean, mask=inside, cache_modifier=".cs")


def run(x):
    y = torch.empty_like(x)
    centred[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
    return y
