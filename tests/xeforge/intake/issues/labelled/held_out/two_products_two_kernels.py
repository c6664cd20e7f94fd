# issues: no_swizzling 13 25; transpose_in_loop 19; missing_persistent 40 43; unfused_kernels 43
"""The scores of attention are written out by one product and read by the next."""

import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def scores_kernel(q_desc, k_desc, s_desc, D, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0)
    n = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for d in range(0, D, BK):
        q = q_desc.load([m * BM, d])
        k = k_desc.load([n * BN, d])
        acc = tl.dot(q, tl.trans(k), acc)
    s_desc.store([m * BM, n * BN], acc.to(tl.float16))


@triton.jit
def values_kernel(s_desc, v_desc, o_desc, T, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0)
    n = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, T, BK):
        acc = tl.dot(s_desc.load([m * BM, t]), v_desc.load([t, n * BN]), acc)
    o_desc.store([m * BM, n * BN], acc.to(tl.float16))


class Model(nn.Module):
    def forward(self, q, k, v):
        T, D = q.shape
        s = torch.empty((T, T), device=q.device, dtype=torch.float16)
        o = torch.empty_like(q)
        tile = 64 if T < 4096 else 128
        make = lambda t: TensorDescriptor.from_tensor(t, [tile, tile])
        scores_kernel[(triton.cdiv(T, tile), triton.cdiv(T, tile))](
            make(q), make(k), make(s), D, BM=tile, BN=tile, BK=tile
        )
        values_kernel[(triton.cdiv(T, tile), triton.cdiv(D, tile))](
            make(s), make(v), make(o), T, BM=tile, BN=tile, BK=tile
        )
        return o
