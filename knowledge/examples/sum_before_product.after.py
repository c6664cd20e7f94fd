"""Sums the right operand's rows first; no matrix product is left."""

import torch
import triton
import triton.language as tl


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


@triton.jit
def row_sum(b_ptr, s_ptr, K, N, BK: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BK + tl.arange(0, BK)
    total = tl.zeros((BK, BN), tl.float32)
    for start in range(0, N, BN):
        cols = start + tl.arange(0, BN)
        inside = (rows[:, None] < K) & (cols[None, :] < N)
        total += tl.load(b_ptr + rows[:, None] * N + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(s_ptr + rows, tl.sum(total, axis=1), mask=rows < K)


def run(a, b):
    rows, depth = a.shape
    cols = b.shape[1]
    sums = torch.empty((depth,), device=a.device, dtype=torch.float32)
    y = torch.empty((rows,), device=a.device, dtype=torch.float32)
    row_sum[(triton.cdiv(depth, 16),)](b, sums, depth, cols, BK=16, BN=128)
    row_dot[(triton.cdiv(rows, 16),)](a, sums, y, rows, depth, BM=16, BK=128)
    return y
