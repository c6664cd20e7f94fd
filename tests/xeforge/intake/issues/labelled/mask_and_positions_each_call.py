# issues: cacheable_intermediate 27 28 29
"""Positions, a mask and a product of weights are made anew on each call."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def attach(x_ptr, pos_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    tl.store(
        out_ptr + offs, tl.load(x_ptr + offs, mask=m) + tl.load(pos_ptr + offs, mask=m), mask=m
    )


class Model(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.length = length
        self.left = nn.Parameter(torch.randn(length, width))
        self.right = nn.Parameter(torch.randn(width, length))

    def forward(self, x):
        positions = torch.arange(self.length, device=x.device)
        both = self.left @ self.right
        mask = torch.tril(torch.ones(self.length, self.length, device=x.device))
        out = torch.empty_like(x)
        block = triton.next_power_of_2(min(x.numel(), 2048))
        attach[(triton.cdiv(x.numel(), block),)](x, both, out, x.numel(), BLOCK=block)
        return out, positions, mask
