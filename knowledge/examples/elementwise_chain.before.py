"""Three steps, three kernels."""

import torch
import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + at, x + 1.0, mask=inside)


@triton.jit
def square(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + at, x * x, mask=inside)


@triton.jit
def decay(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + at, tl.exp(-x), mask=inside)


def run(x):
    y = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    shift[grid](x, y, x.numel(), BLOCK=1024)
    square[grid](y, y, x.numel(), BLOCK=1024)
    decay[grid](y, y, x.numel(), BLOCK=1024)
    return y
