"""Adds the same vector two thousand million times: no deadline is long enough."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def repeat_kernel(x_ptr, y_ptr, n, repeats, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for _ in range(0, repeats):
        acc += tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.debug_barrier()
    tl.store(y_ptr + offs, acc, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        repeat_kernel[(triton.cdiv(n, 128),)](x, y, n, 2_000_000_000, BLOCK=128)
        return y
