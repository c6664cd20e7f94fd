"""Doubles a vector. The text mentions eval(), exec(), .item(), torch.matmul, "xpu" and
torch.cuda.synchronize(), but nothing of the sort is done."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

# No eval("2 * x") here, no os.system, no subprocess, no x.cpu(): these are only words.
NOTE = "never call torch.cuda.synchronize() or .item() in forward; do not move tensors to 'xpu'"


@triton.jit
def evaluate_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # exec'ing a product such as torch.mul(x, 2) would be no kernel of ours
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x + x, mask=offs < n)


class Model(nn.Module):
    """Evaluation mode and training mode agree: model.eval() changes nothing."""

    def forward(self, x):
        y = torch.empty_like(x)
        items = x.numel()
        evaluate_kernel[(triton.cdiv(items, 128),)](x, y, items, BLOCK=128)
        return y
