"""Adds noise whose seed is drawn anew on every call."""

import random

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def noise_kernel(x_ptr, y_ptr, seed, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x + 1e-6 * tl.rand(seed, offs), mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        noise_kernel[(triton.cdiv(n, 128),)](x, y, random.randrange(1 << 30), n, BLOCK=128)
        return y
