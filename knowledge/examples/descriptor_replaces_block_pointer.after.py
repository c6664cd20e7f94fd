"""Loads tiles through descriptors, made once before the loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    a_tiles = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_tiles = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        a = a_tiles.load([tl.program_id(0) * BM, start])
        b = b_tiles.load([start, tl.program_id(1) * BN])
        total = tl.dot(a, b, total)
    answer = total
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], answer.to(c_ptr.dtype.element_ty), mask=inside)


def run(a, b):
    rows, depth = a.shape
    cols = b.shape[1]
    triton.set_allocator(lambda size, _, __: torch.empty(size, device=a.device, dtype=torch.int8))
    c = torch.empty((rows, cols), device=a.device, dtype=a.dtype)
    product[(triton.cdiv(rows, 128), triton.cdiv(cols, 128))](
        a, b, c, rows, cols, depth, BM=128, BN=128, BK=64, num_warps=8, num_stages=3
    )
    return c
