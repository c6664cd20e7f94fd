"""256 registers for a kernel that needs few."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    y = x * 2.0
    tl.store(y_ptr + at, y, mask=inside)


def run(x):
    y = torch.empty_like(x)
    count = x.numel()
    options = {"grf_mode": "256"} if x.device.type == "xpu" else {}
    double[(triton.cdiv(count, 1024),)](x, y, count, BLOCK=1024, **options)
    return y
