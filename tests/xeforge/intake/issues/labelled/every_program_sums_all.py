# issues: redundant_computation 13; missing_autotune 25
"""Each program sums the whole vector before it scales its own block."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + i, mask=i < n, other=0.0)
    total = tl.sum(acc, axis=0)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) / total, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        normalize[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y
