"""Builds a mask on the host and loads it."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked(x_ptr, m_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < N
    hidden = tl.load(m_ptr + row * N + cols, mask=inside, other=0.0)
    x = tl.load(x_ptr + row * N + cols, mask=inside, other=0.0)
    tl.store(y_ptr + row * N + cols, tl.where(hidden > 0.5, -1.0e9, x), mask=inside)


def run(x):
    size = x.shape[0]
    y = torch.empty_like(x)
    mask = torch.ones((size, size), device=x.device).triu(1)
    masked[(size, triton.cdiv(size, 1024))](x, mask, y, size, BLOCK=1024)
    return y
