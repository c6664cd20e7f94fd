"""Keeps the exponential."""

import torch
import triton
import triton.language as tl


@triton.jit
def swish_once(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    decay = tl.exp(-x)
    gate = 1.0 / (1.0 + decay)
    y = gate + x * (decay * gate * gate)
    tl.store(y_ptr + at, y, mask=inside)


def run(x):
    y = torch.empty_like(x)
    count = x.numel()
    swish_once[(triton.cdiv(count, 1024),)](x, y, count, BLOCK=1024)
    return y
