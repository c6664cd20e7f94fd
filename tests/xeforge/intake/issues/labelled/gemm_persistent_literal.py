# issues: persistent_num_progs_hardcoded 50
"""Resident programs, but their number is that of one card."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

NUM_SMS = 132


@triton.autotune(
    configs=[
        triton.Config({"BM": 128, "BN": 128, "BK": 64}, num_warps=8, num_stages=3),
        triton.Config({"BM": 128, "BN": 64, "BK": 64}, num_warps=4, num_stages=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def mm(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    SMS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, SMS):
        group = tile // (8 * tiles_n)
        pid_m = group * 8 + (tile % 8)
        pid_n = (tile % (8 * tiles_n)) // 8
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a_desc.load([pid_m * BM, k]), b_desc.load([k, pid_n * BN]), acc)
        c_desc.store([pid_m * BM, pid_n * BN], acc.to(tl.float16))


class Model(nn.Module):
    def forward(self, a, b):
        c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=torch.float16)
        mm[(NUM_SMS,)](a, b, c, a.shape[0], b.shape[1], a.shape[1], SMS=NUM_SMS)
        return c
