"""Subtracts."""

import torch
import triton
import triton.language as tl


@triton.jit
def plain(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    x = tl.minimum(tl.maximum(x, -8.0), 8.0)
    y = 0.5 * x
    tl.store(y_ptr + at, y, mask=inside)


def run(x):
    y = torch.empty_like(x)
    count = x.numel()
    plain[(triton.cdiv(count, 1024),)](x, y, count, BLOCK=1024)
    return y
