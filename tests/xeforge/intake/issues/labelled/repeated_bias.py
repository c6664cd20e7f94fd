# issues: unnecessary_materialization 19 20
"""The bias is written out for each row, and inputs are put together first."""

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
    def forward(self, x, left, right):
        bias = torch.cat([left, right])
        wide = bias.expand(x.shape[0], -1).contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 4096))
        add[(triton.cdiv(n, block),)](x, wide, out, n, BLOCK=block)
        return out
