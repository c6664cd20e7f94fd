# issues: suboptimal_autotune_configs 15; suboptimal_warps 15; high_register_pressure 15; autotune_key_missing 21; missing_persistent 56
"""A grouped order; the tuner's key lacks a size, and one configuration cannot be held."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


def get_configs():
    return [
        triton.Config(
            {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}, num_stages=3, num_warps=8
        ),
        triton.Config(
            {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}, num_stages=3, num_warps=4
        ),
    ]


@triton.autotune(configs=get_configs(), key=["M", "N"])
@triton.jit
def gemm(
    A,
    B,
    C,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_n
    first_m = pid // in_group * GROUP_M
    size_m = min(num_m - first_m, GROUP_M)
    pid_m = first_m + (pid % in_group) % size_m
    pid_n = (pid % in_group) // size_m
    da = tl.make_tensor_descriptor(A, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    db = tl.make_tensor_descriptor(B, shape=[K, N], strides=[N, 1], block_shape=[BLOCK_K, BLOCK_N])
    dc = tl.make_tensor_descriptor(C, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc += tl.dot(da.load([pid_m * BLOCK_M, k]), db.load([k, pid_n * BLOCK_N]))
    dc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(tl.bfloat16))


def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=torch.bfloat16)
    gemm[lambda opt: (triton.cdiv(M, opt["BLOCK_M"]) * triton.cdiv(N, opt["BLOCK_N"]),)](
        a, b, c, M, N, K
    )
    return c


class Model(nn.Module):
    def forward(self, a, b):
        return matmul(a, b)
