"""Doubles a vector through functions of its own: one chooses the block, one launches."""

from __future__ import annotations

import functools
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _double(x):
    return x + x


@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, _double(x), mask=offs < n)


@functools.lru_cache(maxsize=None)
def choose_block(n):
    """Cached, but only a number: the same for every content of the vector."""
    return 64 if math.log2(max(n, 1)) < 12 else 1024


def launch(x, y, *, block):
    n = x.numel()
    grid = (triton.cdiv(n, block),)
    double_kernel[grid](x_ptr=x, y_ptr=y, n=n, BLOCK=block)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
        launch(x, y, block=choose_block(x.numel()))
        return y
