"""Sums causal scores over all blocks of keys, masked."""

import torch
import triton
import triton.language as tl


@triton.jit
def scores(q_ptr, k_ptr, y_ptr, N, D: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :], mask=rows[:, None] < N, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + cols[None, :] * D + dims[:, None], mask=cols[None, :] < N, other=0.0)
        seen = (cols[None, :] <= rows[:, None]) & (cols[None, :] < N)
        total += tl.sum(tl.where(seen, tl.exp(0.1 * tl.dot(q, k)), 0.0), axis=1)
    tl.store(y_ptr + rows, total, mask=rows < N)


def run(q, k):
    size, dims = q.shape
    y = torch.empty((size,), device=q.device, dtype=torch.float32)
    scores[(triton.cdiv(size, 64),)](q, k, y, size, D=dims, BLOCK=64)
    return y
