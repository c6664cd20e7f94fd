"""Twice the input in equal launches, bound by memory: a right kernel."""

import torch
import triton
import triton.language as tl

PIECES = 20
BLOCK_SIZE = 1024


@triton.jit
def twice_kernel(x_ptr, y_ptr, begin, end, BLOCK: tl.constexpr):
    offsets = begin + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < end
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)


class Model(torch.nn.Module):
    """Doubles piece by piece."""

    def forward(self, x, more):
        """Return twice the input."""
        y = torch.empty_like(x)
        count = x.numel()
        size = triton.cdiv(count, PIECES)
        grid = (triton.cdiv(size, BLOCK_SIZE),)
        for piece in range(PIECES):
            begin = piece * size
            end = min(begin + size, count)
            twice_kernel[grid](x, y, begin, end, BLOCK=BLOCK_SIZE)
        return y
