# issues: none
"""Output and scratch buffers must be made on each call."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count_signs(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum((x > 0).to(tl.int32), axis=0))


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = nn.Parameter(torch.arange(n).float())
        self.register_buffer("mask", torch.tril(torch.ones(n, n)))

    def forward(self, x):
        out = torch.zeros(1, device=x.device, dtype=torch.int32)
        block = triton.next_power_of_2(min(x.numel(), 2048))
        count_signs[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
        return out
