# issues: none
"""Block pointers with all checks over one axis that needs it; the other size is compiled in."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_rows(x_ptr, y_ptr, n_rows, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    start = tl.program_id(0) * ROWS
    src = tl.make_block_ptr(x_ptr, (n_rows, WIDTH), (WIDTH, 1), (start, 0), (ROWS, WIDTH), (1, 0))
    dst = tl.make_block_ptr(y_ptr, (n_rows, WIDTH), (WIDTH, 1), (start, 0), (ROWS, WIDTH), (1, 0))
    x = tl.load(src, boundary_check=(0,))
    tl.store(dst, tl.maximum(x, 0.0), boundary_check=(0,))


class Model(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rows = max(1, 4096 // x.shape[1])
        relu_rows[(triton.cdiv(x.shape[0], rows),)](x, y, x.shape[0], WIDTH=x.shape[1], ROWS=rows)
        return y
