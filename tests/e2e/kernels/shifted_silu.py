"""Bias and scaled SiLU in two launches: the shifted rows go out to memory and come back."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def shift_kernel(x_ptr, bias_ptr, y_ptr, n_elements, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n_elements
    x = tl.load(x_ptr + at, mask=inside)
    bias = tl.load(bias_ptr + at % width, mask=inside)
    tl.store(y_ptr + at, x + bias, mask=inside)


@triton.jit
def silu_kernel(x_ptr, y_ptr, factor, n_elements, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n_elements
    x = tl.load(x_ptr + at, mask=inside).to(tl.float32)
    y = x * tl.sigmoid(x) * factor
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)


class Model(nn.Module):
    """Computes ``silu(x + bias) * factor``."""

    def __init__(self, width, factor):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.factor = factor

    def forward(self, x):
        n_elements = x.numel()
        grid = (triton.cdiv(n_elements, 512),)
        shifted = torch.empty_like(x)
        shift_kernel[grid](x, self.bias, shifted, n_elements, x.shape[-1], BLOCK=512)
        y = torch.empty_like(x)
        silu_kernel[grid](shifted, y, self.factor, n_elements, BLOCK=512)
        return y
