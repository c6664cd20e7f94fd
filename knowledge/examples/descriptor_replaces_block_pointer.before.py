"""Loads tiles through block pointers."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    a_block = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, tl.program_id(1) * BN), (BK, BN), (1, 0))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(a, b, total)
        a_block = tl.advance(a_block, (0, BK))
        b_block = tl.advance(b_block, (BK, 0))
    answer = total
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], answer.to(c_ptr.dtype.element_ty), mask=inside)


def run(a, b):
    rows, depth = a.shape
    cols = b.shape[1]
    c = torch.empty((rows, cols), device=a.device, dtype=a.dtype)
    product[(triton.cdiv(rows, 128), triton.cdiv(cols, 128))](
        a, b, c, rows, cols, depth, BM=128, BN=128, BK=64, num_warps=8
    )
    return c
