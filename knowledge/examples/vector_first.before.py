"""Multiplies two matrices, then a vector."""

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
    answer = total
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], answer.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def row_dot(a_ptr, v_ptr, y_ptr, M, K, BM: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros((BM, BK), tl.float32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rows[:, None] * K + depth[None, :],
            mask=(rows[:, None] < M) & (depth[None, :] < K),
            other=0.0,
        )
        v = tl.load(v_ptr + depth, mask=depth < K, other=0.0)
        total += a.to(tl.float32) * v[None, :].to(tl.float32)
    tl.store(y_ptr + rows, tl.sum(total, axis=1), mask=rows < M)


def run(a, b, v):
    rows, depth = a.shape
    cols = b.shape[1]
    c = torch.empty((rows, cols), device=a.device, dtype=torch.float32)
    y = torch.empty((rows,), device=a.device, dtype=torch.float32)
    grid = (triton.cdiv(rows, 64), triton.cdiv(cols, 64))
    product[grid](a, b, c, rows, cols, depth, BM=64, BN=64, BK=32)
    row_dot[(triton.cdiv(rows, 16),)](c, v, y, rows, cols, BM=16, BK=128)
    return y
