# issues: sigmoid_slow_exp 12
"""The sigmoid is spelled in a helper function."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gate(v):
    return 1.0 / (1.0 + tl.exp(-v))


@triton.jit
def silu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    tl.store(y_ptr + offs, (x * gate(x)).to(y_ptr.dtype.element_ty), mask=mask)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 4096))
        silu_kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
        return y
