"""Tanh as a ratio of exponentials: infinity over infinity for large inputs."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    up = tl.exp(x)
    down = tl.exp(-x)
    tl.store(y_ptr + offs, (up - down) / (up + down), mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        tanh_kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
        return y
