"""Causal attention with a running maximum; the work of a program grows with its row block."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(1) * length * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    query = tl.load(q + base + rm[:, None] * D + rd[None, :])
    best = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        rn = start + tl.arange(0, BN)
        key = tl.load(k + base + rn[None, :] * D + rd[:, None])
        score = tl.dot(query, key) * scale
        score = tl.where(rm[:, None] >= rn[None, :], score, float("-inf"))
        higher = tl.maximum(best, tl.max(score, axis=1))
        weight = tl.exp(score - higher[:, None])
        shrink = tl.exp(best - higher)
        value = tl.load(v + base + rn[:, None] * D + rd[None, :])
        acc = acc * shrink[:, None] + tl.dot(weight.to(value.dtype), value)
        total = total * shrink + tl.sum(weight, axis=1)
        best = higher
    tl.store(o + base + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(tl.bfloat16))


class Model(torch.nn.Module):
    def forward(self, q, k, v):
        heads, length, depth = q.shape
        o = torch.empty_like(q)
        grid = (length // 128, heads)
        attention[grid](q, k, v, o, length, depth**-0.5, BM=128, BN=128, D=depth)
        return o
