# issues: redundant_computation 20
"""The same library product is computed twice."""

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
    def forward(self, a, b, c):
        left = torch.matmul(a, b)
        right = torch.matmul(a, b)
        out = torch.empty_like(left)
        n = left.numel()
        block = triton.next_power_of_2(min(n, 4096))
        add[(triton.cdiv(n, block),)](left, right, out, n, BLOCK=block)
        return out
