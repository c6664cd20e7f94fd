"""Copies the transposed view before the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < COUNT) * 2.0, mask=at < COUNT)


def run(x):
    turned = x.t().contiguous()
    y = torch.empty_like(turned)
    double[(triton.cdiv(x.numel(), 1024),)](turned, y, x.numel(), BLOCK=1024)
    return y
