# issues: sigmoid_slow_exp 18; dtype_input_conversion 24
"""The input is cast and cut in halves; a gate is spelled with an exponential."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def swiglu(gate_ptr, up_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    ok = c < n
    g = tl.load(gate_ptr + row * stride + c, mask=ok, other=0.0)
    u = tl.load(up_ptr + row * stride + c, mask=ok, other=0.0)
    e = tl.exp(-g)
    s = 1.0 / (1.0 + e)
    tl.store(out_ptr + row * n + c, g * s * u, mask=ok)


class Model(nn.Module):
    def forward(self, x):
        h = x.float()
        gate, up = h.chunk(2, dim=-1)
        n = gate.shape[-1]
        out = torch.empty((x.shape[0], n), device=x.device, dtype=torch.float32)
        swiglu[(x.shape[0],)](gate, up, out, h.stride(0), n, BLOCK=triton.next_power_of_2(n))
        return out
