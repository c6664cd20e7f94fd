# issues: device_host_sync 19 24
"""The host asks the device for a number and waits."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def clip(x_ptr, y_ptr, limit, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.minimum(x, limit), mask=offs < n)


class Model(nn.Module):
    def forward(self, x, limits):
        limit = limits.max().item()
        y = torch.empty_like(x)
        n = x.numel()
        block = triton.next_power_of_2(min(n, 512))
        clip[(triton.cdiv(n, block),)](x, y, limit, n, BLOCK=block)
        torch.cuda.synchronize()
        return y
