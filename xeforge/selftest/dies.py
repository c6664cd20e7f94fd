"""Ends its own process instead of answering."""

import os

import torch
import triton
import triton.language as tl


@triton.jit
def twice_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)


class Model(torch.nn.Module):
    """Dies."""

    def forward(self, x, more):
        """End the process."""
        y = torch.empty_like(x)
        twice_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        os._exit(3)
