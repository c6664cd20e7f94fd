# issues: missing_autotune 37 38; unfused_elementwise 38
"""Bias, activation and scale, a kernel each."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_bias(x_ptr, b_ptr, y_ptr, n, width, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    tl.store(
        y_ptr + offs, tl.load(x_ptr + offs, mask=m) + tl.load(b_ptr + offs % width, mask=m), mask=m
    )


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    x = tl.load(x_ptr + offs, mask=m)
    tl.store(y_ptr + offs, 0.5 * x * (1.0 + tl.erf(x * 0.70710678)), mask=m)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        n = x.numel()
        t = torch.empty_like(x)
        y = torch.empty_like(x)
        grid = (triton.cdiv(n, 512),)
        add_bias[grid](x, self.bias, t, n, x.shape[-1], BLOCK=512)
        gelu[grid](t, y, n, BLOCK=512)
        return y
