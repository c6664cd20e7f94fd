"""Multiplies matrices and keeps the row sums only."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rows[:, None] * K + depth[None, :],
            mask=(rows[:, None] < M) & (depth[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + depth[:, None] * N + cols[None, :],
            mask=(depth[:, None] < K) & (cols[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a, b, total)
    sums = tl.sum(tl.where(cols[None, :] < N, total, 0.0), axis=1)
    tl.atomic_add(c_ptr + rows, sums, mask=rows < M, sem="relaxed")


def run(a, b):
    rows, depth = a.shape
    cols = b.shape[1]
    y = torch.zeros((rows,), device=a.device, dtype=torch.float32)
    grid = (triton.cdiv(rows, 64), triton.cdiv(cols, 64))
    product[grid](a, b, y, rows, cols, depth, BM=64, BN=64, BK=32)
    return y
