"""Fetches the scale to the host before the launch."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled(x_ptr, y_ptr, factor, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) * factor, mask=inside)


def run(x, scale):
    y = torch.empty_like(x)
    scaled[(triton.cdiv(x.numel(), 1024),)](x, y, scale.item(), x.numel(), BLOCK=1024)
    return y
