# issues: device_host_sync 20 34; missing_autotune 23
"""Two launches with a wait between them; the seed is drawn on the host and fetched."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def dropout(x_ptr, y_ptr, p, seed, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = offs < n
    keep = tl.rand(seed, offs) > p
    x = tl.load(x_ptr + offs, mask=ok)
    tl.store(y_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=ok)


def apply_dropout(x, p):
    seed = torch.randint(0, 2**31, (1,), device=x.device).item()
    y = torch.empty_like(x)
    n = x.numel()
    dropout[(triton.cdiv(n, 1024),)](x, y, p, seed, n, BLOCK=1024)
    return y


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        first = apply_dropout(x, self.p)
        if first.isnan().any():
            return x
        return first
