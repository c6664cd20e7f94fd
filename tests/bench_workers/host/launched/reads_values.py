"""Chooses the grid by a value that only the device knows."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + lane, tl.load(x + lane))


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        copy[(x.numel() // 64,)](x, y, BLOCK=64)
        longest = int(x.abs().max().item())
        copy[(longest,)](x, y, BLOCK=128)
        return y
