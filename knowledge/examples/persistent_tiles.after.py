"""As many programs as the device keeps resident."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    total_tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), total_tiles, tl.num_programs(0)):
        rows = tile // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
        cols = tile % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
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
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        answer = total.to(c_ptr.dtype.element_ty)
        tl.store(c_ptr + rows[:, None] * N + cols[None, :], answer, mask=inside)


def run(a, b):
    rows, depth = a.shape
    cols = b.shape[1]
    tiles = triton.cdiv(rows, 128) * triton.cdiv(cols, 128)
    units = 4
    if a.device.type == "cuda":
        units = torch.cuda.get_device_properties(a.device).multi_processor_count
    elif a.device.type == "xpu":
        units = torch.xpu.get_device_properties(a.device).gpu_subslice_count
    c = torch.empty((rows, cols), device=a.device, dtype=a.dtype)
    product[(min(units, tiles),)](a, b, c, rows, cols, depth, BM=128, BN=128, BK=64, num_warps=8)
    return c
