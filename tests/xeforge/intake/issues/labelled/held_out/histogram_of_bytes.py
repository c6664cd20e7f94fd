# issues: none
"""Atomics on data-dependent places: nothing that can be seen to be wrong."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def histogram(x_ptr, bins_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = offs < n
    v = tl.load(x_ptr + offs, mask=ok, other=0)
    tl.atomic_add(bins_ptr + v, 1, mask=ok)


class Model(nn.Module):
    def forward(self, x):
        bins = torch.zeros(256, device=x.device, dtype=torch.int32)
        block = triton.next_power_of_2(max(256, x.numel() // 1024))
        histogram[(triton.cdiv(x.numel(), block),)](x, bins, x.numel(), BLOCK=block)
        return bins
