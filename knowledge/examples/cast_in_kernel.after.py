"""Converts in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    y = x.to(tl.float32) * 2.0
    tl.store(y_ptr + at, y, mask=inside)


def run(x):
    y = torch.empty_like(x, dtype=torch.float32)
    count = x.numel()
    twice[(triton.cdiv(count, 1024),)](x, y, count, BLOCK=1024)
    return y
