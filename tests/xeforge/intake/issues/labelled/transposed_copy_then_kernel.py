# issues: non_contiguous_input 18
"""The input is turned into a copy before a kernel that could read it through strides."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 2.0, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        turned = x.transpose(0, 1).contiguous()
        y = torch.empty_like(turned)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 1024))
        scale[(triton.cdiv(n, block),)](turned, y, n, BLOCK=block)
        return y
