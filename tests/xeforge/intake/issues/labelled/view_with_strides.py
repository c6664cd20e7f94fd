# issues: none
"""A transposed view goes to a kernel that gets its strides; another is only guarded."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, m, n, sm, sn, COLS: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * sm + cols * sn, mask=cols < n)
    tl.store(y_ptr + row * n + cols, x * 2.0, mask=cols < n)


class Model(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        view = x.flatten(1)
        m, n = view.shape
        y = torch.empty((m, n), device=x.device, dtype=x.dtype)
        scale[(m,)](view, y, m, n, view.stride(0), view.stride(1), COLS=triton.next_power_of_2(n))
        return y
