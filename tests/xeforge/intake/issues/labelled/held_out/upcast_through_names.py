# issues: missing_tma 23; missing_block_pointers 23; dtype_precision 25; missing_autotune 32
"""Operands are widened under new names, and a wide intermediate that was computed stays wide."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _tile(ptr, rows, cols, stride, ok):
    return tl.load(ptr + rows[:, None] * stride + cols[None, :], mask=ok, other=0.0)


@triton.jit
def pv(p_ptr, v_ptr, o_ptr, T, D: tl.constexpr, BM: tl.constexpr, BT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for t0 in range(0, T, BT):
        ts = t0 + tl.arange(0, BT)
        p = _tile(p_ptr, rows, ts, T, (rows[:, None] < T) & (ts[None, :] < T))
        v = tl.load(v_ptr + ts[:, None] * D + dims[None, :], mask=ts[:, None] < T, other=0.0)
        wide = v.to(tl.float32)
        acc += tl.dot(tl.exp(p.to(tl.float32)), wide)
    tl.store(o_ptr + rows[:, None] * D + dims[None, :], acc, mask=rows[:, None] < T)


class Model(nn.Module):
    def forward(self, p, v):
        o = torch.empty(v.shape, device=v.device, dtype=torch.float32)
        pv[(triton.cdiv(p.shape[0], 64),)](p, v, o, p.shape[0], D=v.shape[1], BM=64, BT=64)
        return o
