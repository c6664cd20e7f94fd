# issues: no_swizzling 23; long_liveness 31; missing_persistent 44
"""The residual tile waits in registers through the whole product."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 128, "BN": 128, "BK": 64}, num_warps=8, num_stages=3),
        triton.Config({"BM": 64, "BN": 128, "BK": 64}, num_warps=4, num_stages=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def mm_add(
    a_ptr, b_ptr, r_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    pid_n = pid // tiles_m
    pid_m = pid % tiles_m
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    inside = (rm[:, None] < M) & (rn[None, :] < N)
    where = rm[:, None] * N + rn[None, :]
    residual = tl.load(r_ptr + where, mask=inside, other=0.0)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([pid_m * BM, k]), b_desc.load([k, pid_n * BN]), acc)
    tl.store(c_ptr + where, acc + residual, mask=inside)


class Model(nn.Module):
    def forward(self, a, b, r):
        c = torch.empty_like(r)
        grid = lambda meta: (
            triton.cdiv(a.shape[0], meta["BM"]) * triton.cdiv(b.shape[1], meta["BN"]),
        )
        mm_add[grid](a, b, r, c, a.shape[0], b.shape[1], a.shape[1])
        return c
