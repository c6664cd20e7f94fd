# issues: cacheable_intermediate 31 32
"""Angles are made anew on each call; the kernel itself is fine."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rotate(x_ptr, cos_ptr, sin_ptr, y_ptr, half, HALF: tl.constexpr):
    token = tl.program_id(0)
    d = tl.arange(0, HALF)
    ok = d < half
    a = tl.load(x_ptr + token * 2 * half + d, mask=ok)
    b = tl.load(x_ptr + token * 2 * half + half + d, mask=ok)
    c = tl.load(cos_ptr + token * half + d, mask=ok)
    s = tl.load(sin_ptr + token * half + d, mask=ok)
    tl.store(y_ptr + token * 2 * half + d, a * c - b * s, mask=ok)
    tl.store(y_ptr + token * 2 * half + half + d, a * s + b * c, mask=ok)


class Model(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        self.dim = dim
        self.base = base

    def forward(self, x):
        tokens, dim = x.shape
        t = torch.arange(tokens, device=x.device, dtype=torch.float32)
        freq = 1.0 / self.base ** (torch.arange(0, self.dim, 2, device=x.device) / self.dim)
        angles = torch.outer(t, freq)
        y = torch.empty_like(x)
        half = dim // 2
        rotate[(tokens,)](x, angles.cos(), angles.sin(), y, half, HALF=triton.next_power_of_2(half))
        return y
