# issues: no_swizzling 36; missing_tma 56; unnecessary_materialization 79; non_contiguous_input 80; persistent_num_progs_hardcoded 83
"""A convolution through unfolding and a product kernel that is told how many programs there are."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

NUM_PROGRAMS = 108


@triton.autotune(
    configs=[
        triton.Config({"TM": 128, "TN": 128, "TK": 32}, num_warps=8, num_stages=3),
        triton.Config({"TM": 64, "TN": 128, "TK": 32}, num_warps=4, num_stages=3),
        triton.Config({"TM": 128, "TN": 64, "TK": 32}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def product(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    PROGRAMS: tl.constexpr,
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
):
    tiles_n = tl.cdiv(N, TN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, TM) * tiles_n, PROGRAMS):
        m0 = (tile // tiles_n) * TM
        n0 = (tile % tiles_n) * TN
        a_blk = tl.make_block_ptr(
            base=a_ptr,
            shape=(M, K),
            strides=(K, 1),
            offsets=(m0, 0),
            block_shape=(TM, TK),
            order=(1, 0),
        )
        b_blk = tl.make_block_ptr(
            base=b_ptr,
            shape=(K, N),
            strides=(N, 1),
            offsets=(0, n0),
            block_shape=(TK, TN),
            order=(1, 0),
        )
        acc = tl.zeros((TM, TN), dtype=tl.float32)
        for k in range(0, K, TK):
            a = tl.load(a_blk, boundary_check=(0, 1), padding_option="zero")
            b = tl.load(b_blk, boundary_check=(0, 1), padding_option="zero")
            acc += tl.dot(a, b)
            a_blk = tl.advance(a_blk, (0, TK))
            b_blk = tl.advance(b_blk, (TK, 0))
        c_blk = tl.make_block_ptr(
            base=c_ptr,
            shape=(M, N),
            strides=(N, 1),
            offsets=(m0, n0),
            block_shape=(TM, TN),
            order=(1, 0),
        )
        tl.store(c_blk, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


class Model(nn.Module):
    def __init__(self, cin, cout, size):
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.randn(cin * size * size, cout))

    def forward(self, x):
        cols = F.unfold(x, self.size)
        rows = cols.transpose(1, 2).contiguous()
        flat = rows.view(-1, rows.shape[-1])
        c = torch.empty((flat.shape[0], self.weight.shape[1]), device=x.device, dtype=x.dtype)
        product[(NUM_PROGRAMS,)](
            flat, self.weight, c, flat.shape[0], c.shape[1], flat.shape[1], PROGRAMS=NUM_PROGRAMS
        )
        return c
