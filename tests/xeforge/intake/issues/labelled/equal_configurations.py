# issues: autotune_duplicate_params 14 29; autotune_key_missing 18
"""Two configurations are equal, the key names something else, and the launch sets the block too."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


def configurations():
    return [
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
        triton.Config({"BLOCK": 1024}, num_warps=4),
    ]


@triton.autotune(configs=configurations(), key=["n_elements"])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 2.0, mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        scale[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y
