# issues: none
"""Data that is read once may be marked for eviction."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0, eviction_policy="evict_first")
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))


class Model(nn.Module):
    def forward(self, x):
        out = torch.zeros(1, device=x.device, dtype=torch.float32)
        block = triton.next_power_of_2(min(x.numel(), 4096))
        total[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
        return out
