# issues: gemm_simplification 27
"""The kernel multiplies matrices and keeps the row sums only."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4),
        triton.Config({"BM": 128, "BN": 64, "BK": 32}, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def mm_rowsum(a_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    pid_m = tl.program_id(0)
    total = tl.zeros((BM,), dtype=tl.float32)
    for n in range(0, N, BN):
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a_desc.load([pid_m * BM, k]), b_desc.load([k, n]), acc)
        total += tl.sum(acc, axis=1)
    rows = pid_m * BM + tl.arange(0, BM)
    tl.store(out_ptr + rows, total, mask=rows < M)


class Model(nn.Module):
    def forward(self, a, b):
        out = torch.empty(a.shape[0], device=a.device, dtype=torch.float32)
        mm_rowsum[lambda meta: (triton.cdiv(a.shape[0], meta["BM"]),)](
            a, b, out, a.shape[0], b.shape[1], a.shape[1]
        )
        return out
