"""Multiplies the vector by one matrix after the other."""

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


def run(a, b, v):
    rows, depth = a.shape
    cols = b.shape[1]
    inner = torch.empty((depth,), device=a.device, dtype=torch.float32)
    y = torch.empty((rows,), device=a.device, dtype=torch.float32)
    row_dot[(triton.cdiv(depth, 16),)](b, v, inner, depth, cols, BM=16, BK=128)
    row_dot[(triton.cdiv(rows, 16),)](a, inner, y, rows, depth, BM=16, BK=128)
    return y
