# issues: dtype_float64 15; cache_eviction_risk 18; suboptimal_algorithm 27; missing_autotune 45
"""Mean, variance and result in three walks, the statistics in double precision."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ln_fwd(X, W, B, Y, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float64)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        acc += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float64)
    mean = tl.sum(acc, axis=0) / N
    var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.0)
        d = tl.where(cols < N, x - mean, 0.0)
        var += d * d
    rstd = 1 / tl.sqrt(tl.sum(var, axis=0) / N + eps)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        m = cols < N
        x = tl.load(X + cols, mask=m)
        y = (x - mean) * rstd * tl.load(W + cols, mask=m) + tl.load(B + cols, mask=m)
        tl.store(Y + cols, y, mask=m)


class Model(nn.Module):
    def __init__(self, n, eps=1e-5):
        super().__init__()
        self.w = nn.Parameter(torch.ones(n))
        self.b = nn.Parameter(torch.zeros(n))
        self.eps = eps

    def forward(self, x):
        y = torch.empty_like(x)
        M, N = x.shape
        ln_fwd[(M,)](x, self.w, self.b, y, x.stride(0), N, self.eps, BLOCK_SIZE=1024)
        return y
