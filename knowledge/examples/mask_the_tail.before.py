"""Pads on the host, so that no mask is needed."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * 2.0)


def run(x):
    count = x.numel()
    padded = torch.nn.functional.pad(x.reshape(-1), (0, -count % 1024))
    y = torch.empty_like(padded)
    double[(padded.numel() // 1024,)](padded, y, BLOCK=1024)
    return y[:count].reshape(x.shape)
