# issues: none
"""Online maximum and sum, then the result; the first walk asks the cache to keep the row."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n_columns"],
)
@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    src = x_ptr + row * n_columns
    top = float("-inf")
    norm = 0.0
    for start in range(0, n_columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(
            src + offs, mask=offs < n_columns, other=float("-inf"), eviction_policy="evict_last"
        )
        new = tl.maximum(top, tl.max(x, axis=0))
        norm = norm * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    for start in range(0, n_columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(src + offs, mask=offs < n_columns, other=float("-inf"))
        tl.store(y_ptr + row * n_columns + offs, tl.exp(x - top) / norm, mask=offs < n_columns)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
