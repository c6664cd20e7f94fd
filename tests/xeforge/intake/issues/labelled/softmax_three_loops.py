# issues: cache_eviction_risk 18; suboptimal_algorithm 26; missing_autotune 35
"""Three walks over a row in small blocks."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    src = x_ptr + row * n_columns
    dst = y_ptr + row * n_columns
    best = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for start in range(0, n_columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        best = tl.maximum(best, tl.load(src + offs, mask=offs < n_columns, other=float("-inf")))
    top = tl.max(best, axis=0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(src + offs, mask=offs < n_columns, other=float("-inf"))
        total += tl.exp(x - top)
    norm = tl.sum(total, axis=0)
    for start in range(0, n_columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(src + offs, mask=offs < n_columns, other=float("-inf"))
        tl.store(dst + offs, tl.exp(x - top) / norm, mask=offs < n_columns)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=512)
        return y
