"""Row-wise dot products with a weight that the reference calls by another name."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_kernel(x_ptr, w_ptr, y_ptr, n_in, n_out, BLOCK_IN: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1)
    offs = tl.arange(0, BLOCK_IN)
    x = tl.load(x_ptr + row * n_in + offs, mask=offs < n_in, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + column * n_in + offs, mask=offs < n_in, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * n_out + column, tl.sum(x * w, axis=0).to(y_ptr.dtype.element_ty))


class Model(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.kernel_weight = nn.Parameter(torch.randn(n_out, n_in) * n_in**-0.5)

    def forward(self, x):
        n_rows, n_in = x.shape
        n_out = self.kernel_weight.shape[0]
        y = torch.empty((n_rows, n_out), device=x.device, dtype=x.dtype)
        linear_kernel[(n_rows, n_out)](
            x, self.kernel_weight, y, n_in, n_out, BLOCK_IN=triton.next_power_of_2(n_in)
        )
        return y
