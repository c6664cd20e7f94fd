"""Adds tiles of different shapes inside a helper; a good kernel is launched after it."""

import torch
import triton
import triton.language as tl


@triton.jit
def helper(x, BLOCK: tl.constexpr):
    return x + tl.arange(0, 2 * BLOCK)  # the fault


@triton.jit
def bad(x, y, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(y + lane, helper(tl.load(x + lane), BLOCK))


@triton.jit
def good(x, y, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + lane, tl.load(x + lane))


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        bad[(1,)](x, y, BLOCK=64)
        good[(x.numel() // 64,)](x, y, BLOCK=64)
        return y
