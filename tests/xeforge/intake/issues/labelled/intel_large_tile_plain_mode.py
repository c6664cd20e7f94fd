# issues: missing_grf_mode 10; missing_persistent 39
"""A large tile on an Intel device without a register mode."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 256, "BN": 256, "BK": 32}, num_warps=32, num_stages=2),
        triton.Config({"BM": 256, "BN": 128, "BK": 32}, num_warps=16, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def mm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    group = pid // (4 * tiles_n)
    pid_m = group * 4 + pid % 4
    pid_n = (pid % (4 * tiles_n)) // 4
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([pid_m * BM, k]), b_desc.load([k, pid_n * BN]), acc)
    c_desc.store([pid_m * BM, pid_n * BN], acc.to(tl.float16))


class Model(nn.Module):
    def forward(self, a, b):
        c = torch.empty((a.shape[0], b.shape[1]), device="xpu", dtype=torch.float16)
        grid = lambda meta: (
            triton.cdiv(a.shape[0], meta["BM"]) * triton.cdiv(b.shape[1], meta["BN"]),
        )
        mm[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1])
        return c
