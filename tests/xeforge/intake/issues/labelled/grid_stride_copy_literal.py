# issues: missing_autotune 21; persistent_num_progs_hardcoded 21
"""An element-wise kernel with resident programs, their number written down."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def negate(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offs = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + offs, -tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        negate[(256,)](x, y, x.numel(), BLOCK=2048)
        return y
