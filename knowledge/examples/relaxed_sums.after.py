"""Adds relaxed."""

import torch
import triton
import triton.language as tl


@triton.jit
def count(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.atomic_add(y_ptr + at % 4096, x, mask=inside, sem="relaxed")


def run(x):
    y = torch.zeros((4096,), device=x.device)
    count[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
