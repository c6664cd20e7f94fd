# issues: uncoalesced_access 17; missing_autotune 25; suboptimal_warps 25
"""Statistics of a channel: the lanes step through the batch, one channel apart."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def channel_mean(x_ptr, out_ptr, n_rows, n_channels, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in tl.range(0, n_rows, BLOCK):
        r = start + tl.arange(0, BLOCK)
        where = x_ptr + r * n_channels + channel
        acc += tl.load(where, mask=r < n_rows, other=0.0)
    tl.store(out_ptr + channel, tl.sum(acc, axis=0) / n_rows)


class Model(nn.Module):
    def forward(self, x):
        n, c = x.shape
        out = torch.empty(c, device=x.device, dtype=torch.float32)
        channel_mean[(c,)](x, out, n, c, BLOCK=128, num_warps=8)
        return out
