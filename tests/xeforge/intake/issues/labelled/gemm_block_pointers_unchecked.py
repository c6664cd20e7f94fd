# issues: block_ptr_multiple_of_misuse 40; block_ptr_boundary_wrong 43; missing_tma 43; missing_persistent 65
"""Block pointers without checks on the inner axis, and a hint that describes nothing."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 128, "BK": 32}, num_warps=4, num_stages=3),
        triton.Config({"BM": 128, "BN": 128, "BK": 32}, num_warps=8, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def mm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    width = 4 * tiles_n
    pid_m = (pid // width) * 4 + pid % 4
    pid_n = (pid % width) // 4
    a_blk = tl.make_block_ptr(
        a_ptr,
        shape=(M, K),
        strides=(K, 1),
        offsets=(pid_m * BM, 0),
        block_shape=(BM, BK),
        order=(1, 0),
    )
    b_blk = tl.make_block_ptr(
        b_ptr,
        shape=(K, N),
        strides=(N, 1),
        offsets=(0, pid_n * BN),
        block_shape=(BK, BN),
        order=(1, 0),
    )
    b_blk = tl.multiple_of(b_blk, (16, 16))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(a_blk, boundary_check=(0,), padding_option="zero")
        b = tl.load(b_blk, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc)
        a_blk = tl.advance(a_blk, (0, BK))
        b_blk = tl.advance(b_blk, (BK, 0))
    c_blk = tl.make_block_ptr(
        c_ptr,
        shape=(M, N),
        strides=(N, 1),
        offsets=(pid_m * BM, pid_n * BN),
        block_shape=(BM, BN),
        order=(1, 0),
    )
    tl.store(c_blk, acc.to(tl.float16), boundary_check=(0, 1))


class Model(nn.Module):
    def forward(self, a, b):
        c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=torch.float16)
        grid = lambda meta: (
            triton.cdiv(a.shape[0], meta["BM"]) * triton.cdiv(b.shape[1], meta["BN"]),
        )
        mm[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1])
        return c
