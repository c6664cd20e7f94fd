# issues: reduction_tree_suboptimal 17; missing_autotune 24
"""A loop reduces each tile to a number that it adds up."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        total += tl.sum(x * x, axis=0)
    tl.store(out_ptr + row, tl.sqrt(total))


class Model(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
        norm[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024)
        return out
