# issues: missing_boundary_check 13 14; missing_autotune 20
"""The grid is rounded up, and nothing in the kernel stops the last program."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x * 2.0)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 1024),)](x, y, BLOCK=1024)
        return y
