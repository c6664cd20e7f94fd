# issues: suboptimal_autotune_configs 10; autotune_key_missing 10
"""Only warps and stages vary; the loop's bound is missing in the key."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 1024}, num_warps=8),
        triton.Config({"BLOCK": 1024}, num_warps=16),
    ],
    key=["n_rows"],
)
@triton.jit
def row_sum(x_ptr, y_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
        row_sum[(x.shape[0],)](x, y, x.shape[0], x.shape[1])
        return y
