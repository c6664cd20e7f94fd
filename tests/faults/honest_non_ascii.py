"""Verdoppelt einen Vektor – 二倍にする – удваивает вектор. Valid UTF-8, unusual characters."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

größe = 128  # ∀ n: ⌈n / größe⌉ blocks 🚀


@triton.jit
def doppel_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # y ← 2·x
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    δ = x
    tl.store(y_ptr + offs, x + δ, mask=offs < n)


class Model(nn.Module):
    """Наивная модель."""

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        doppel_kernel[(triton.cdiv(n, größe),)](x, y, n, BLOCK=größe)
        return y
