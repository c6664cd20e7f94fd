"""Gated activation with bias, scale and residual, one kernel launch per operation: every
intermediate makes a round trip through device memory."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

TOKENS = 40
WIDTH = 96
BLOCK = 256


@triton.jit
def add_bias_kernel(x_ptr, bias_ptr, out_ptr, n_elements, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    bias = tl.load(bias_ptr + offs % WIDTH, mask=mask)
    tl.store(out_ptr + offs, x + bias, mask=mask)


@triton.jit
def silu_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    y = x * tl.sigmoid(x)
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def multiply_kernel(x_ptr, gate_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    gate = tl.load(gate_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * gate, mask=mask)


@triton.jit
def scale_residual_kernel(x_ptr, residual_ptr, out_ptr, scale, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    residual = tl.load(residual_ptr + offs, mask=mask).to(tl.float32)
    y = x * scale + residual
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


class Model(nn.Module):
    """Computes ``silu(x + bias) * gate * scale + residual``.

    Args:
        width: Length of one token.
        scale: Factor on the gated branch.
    """

    def __init__(self, width, scale):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.scale = scale

    def forward(self, x, gate, residual):
        n_elements = x.numel()
        grid = (triton.cdiv(n_elements, BLOCK),)
        shifted = torch.empty_like(x)
        add_bias_kernel[grid](
            x, self.bias, shifted, n_elements, WIDTH=x.shape[-1], BLOCK=BLOCK, num_warps=4
        )
        activated = torch.empty_like(x)
        silu_kernel[grid](shifted, activated, n_elements, BLOCK=BLOCK, num_warps=4)
        gated = torch.empty_like(x)
        multiply_kernel[grid](activated, gate, gated, n_elements, BLOCK=BLOCK, num_warps=4)
        out = torch.empty_like(x)
        scale_residual_kernel[grid](
            gated, residual, out, self.scale, n_elements, BLOCK=BLOCK, num_warps=4
        )
        return out


def get_inputs():
    return [torch.randn(TOKENS, WIDTH) for _ in range(3)]


def get_init_inputs():
    return [WIDTH, 0.5]
