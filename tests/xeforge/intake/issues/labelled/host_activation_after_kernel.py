# issues: unfused_elementwise 23
"""The kernel adds, the library activates and sums."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=m) + tl.load(y_ptr + offs, mask=m), mask=m)


class Model(nn.Module):
    def forward(self, x, y):
        n = x.numel()
        out = torch.empty_like(x)
        block = triton.next_power_of_2(min(n, 1024))
        add[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
        act = torch.relu(out)
        return act.sum(dim=-1)
