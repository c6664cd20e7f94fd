# issues: cache_eviction_risk 16; missing_autotune 37
"""A row is marked for eviction and then read again."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def center(x_ptr, w_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(
            x_ptr + row * n_cols + cols,
            mask=cols < n_cols,
            other=0.0,
            eviction_policy="evict_first",
        )
    mean = tl.sum(total, axis=0) / n_cols
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        w = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0)
        tl.store(y_ptr + row * n_cols + cols, (x - mean) * w, mask=cols < n_cols)


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        y = torch.empty_like(x)
        center[(x.shape[0],)](x, self.weight, y, x.shape[1], BLOCK=1024)
        return y
