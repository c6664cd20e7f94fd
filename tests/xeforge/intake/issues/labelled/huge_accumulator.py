# issues: missing_autotune 32; missing_persistent 32; high_register_pressure 32; suboptimal_warps 32
"""A tile that no thread can hold, fixed at the launch."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    group = pid // (8 * tiles_n)
    pid_m = group * 8 + pid % 8
    pid_n = (pid % (8 * tiles_n)) // 8
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([pid_m * BM, k]), b_desc.load([k, pid_n * BN]), acc)
    c_desc.store([pid_m * BM, pid_n * BN], acc.to(tl.float16))


class Model(nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        c = torch.empty((m, n), device=a.device, dtype=torch.float16)
        grid = (triton.cdiv(m, 256) * triton.cdiv(n, 256),)
        mm[grid](a, b, c, m, n, k, BM=256, BN=256, BK=32, num_warps=4)
        return c
