"""Writes the bias out to the size of the matrix."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, b_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    total = tl.load(x_ptr + at, mask=inside) + tl.load(b_ptr + at, mask=inside)
    tl.store(y_ptr + at, total, mask=inside)


def run(x, bias):
    y = torch.empty_like(x)
    wide = bias.expand(x.shape).contiguous()
    add[(triton.cdiv(x.numel(), 1024),)](x, wide, y, x.numel(), BLOCK=1024)
    return y
