"""Batched product with a transposed right operand, read through strides. Offsets of a batch
are 64-bit because batch times stride can pass two thousand million."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

BATCH = 3
ROWS = 48
COLUMNS = 40
INNER = 64

BLOCK_M = 32
BLOCK_N = 32
BLOCK_K = 16


@triton.jit
def batched_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    n_rows,
    n_columns,
    n_inner,
    stride_ab,
    stride_am,
    stride_ak,
    stride_bb,
    stride_bk,
    stride_bn,
    stride_cb,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(0)
    batch = tl.program_id(1).to(tl.int64)
    blocks_n = tl.cdiv(n_columns, BLOCK_N)
    pid_m = pid // blocks_n
    pid_n = pid % blocks_n
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_batch = a_ptr + batch * stride_ab
    b_batch = b_ptr + batch * stride_bb
    c_batch = c_ptr + batch * stride_cb

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(n_inner, BLOCK_K)):
        k = step * BLOCK_K + offs_k
        a = tl.load(
            a_batch + offs_m[:, None] * stride_am + k[None, :] * stride_ak,
            mask=(offs_m[:, None] < n_rows) & (k[None, :] < n_inner),
            other=0.0,
        )
        b = tl.load(
            b_batch + k[:, None] * stride_bk + offs_n[None, :] * stride_bn,
            mask=(k[:, None] < n_inner) & (offs_n[None, :] < n_columns),
            other=0.0,
        )
        # float32 operands stay float32: no silent change to a shorter format.
        acc = tl.dot(a, b, acc, input_precision="ieee")

    c_ptrs = c_batch + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    c_mask = (offs_m[:, None] < n_rows) & (offs_n[None, :] < n_columns)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=c_mask)


class Model(nn.Module):
    """Computes ``a[i] @ b[i].T`` for every batch entry."""

    def forward(self, a, b):
        b = b.transpose(1, 2)
        n_batch, n_rows, n_inner = a.shape
        n_columns = b.shape[2]
        c = torch.empty((n_batch, n_rows, n_columns), device=a.device, dtype=a.dtype)
        grid = (triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_columns, BLOCK_N), n_batch)
        batched_matmul_kernel[grid](
            a,
            b,
            c,
            n_rows,
            n_columns,
            n_inner,
            *a.stride(),
            *b.stride(),
            *c.stride(),
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            BLOCK_K=BLOCK_K,
            num_warps=4,
            num_stages=2,
        )
        return c


def get_inputs():
    return [torch.randn(BATCH, ROWS, INNER), torch.randn(BATCH, COLUMNS, INNER)]


def get_init_inputs():
    return []
