"""Attention with online softmax in small tiles. Scores, probabilities and values go through
float32 products, and every tile is masked, also those that need no mask."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

BATCH = 1
HEADS = 2
TOKENS = 48
HEAD_DIM = 64


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32}, num_warps=2, num_stages=2),
    ],
    key=["n_tokens", "HEAD_DIM", "CAUSAL"],
)
@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    sm_scale,
    n_tokens,
    stride_head,
    stride_token,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    q_ptr += head * stride_head
    k_ptr += head * stride_head
    v_ptr += head * stride_head
    out_ptr += head * stride_head

    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    row_mask = rows[:, None] < n_tokens
    q_offsets = rows[:, None] * stride_token + dims[None, :]
    q = tl.load(q_ptr + q_offsets, mask=row_mask, other=0.0).to(tl.float32)

    row_max = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    last = n_tokens
    if CAUSAL:
        last = tl.minimum(n_tokens, (block + 1) * BLOCK_M)
    for start in range(0, last, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        k_offsets = columns[None, :] * stride_token + dims[:, None]
        k = tl.load(k_ptr + k_offsets, mask=columns[None, :] < n_tokens, other=0.0)
        scores = tl.dot(q, k.to(tl.float32)) * sm_scale
        keep = columns[None, :] < n_tokens
        if CAUSAL:
            keep = keep & (rows[:, None] >= columns[None, :])
        scores = tl.where(keep, scores, float("-inf"))

        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        rescale = tl.exp(row_max - new_max)
        p = tl.exp(scores - new_max[:, None])
        row_sum = row_sum * rescale + tl.sum(p, axis=1)
        v_offsets = columns[:, None] * stride_token + dims[None, :]
        v = tl.load(v_ptr + v_offsets, mask=columns[:, None] < n_tokens, other=0.0)
        acc = acc * rescale[:, None] + tl.dot(p, v.to(tl.float32))
        row_max = new_max

    out = acc / row_sum[:, None]
    tl.store(out_ptr + q_offsets, out.to(out_ptr.dtype.element_ty), mask=row_mask)


class Model(nn.Module):
    """Scaled dot-product attention over ``[batch, heads, tokens, head_dim]`` tensors.

    Args:
        causal: Whether a token sees only itself and earlier ones.
    """

    def __init__(self, causal):
        super().__init__()
        self.causal = bool(causal)

    def forward(self, q, k, v):
        q = q.contiguous()
        k = k.contiguous()
        v = v.contiguous()
        batch, heads, n_tokens, head_dim = q.shape
        out = torch.empty_like(q)
        grid = lambda meta: (triton.cdiv(n_tokens, meta["BLOCK_M"]), batch * heads)
        attention_kernel[grid](
            q,
            k,
            v,
            out,
            head_dim**-0.5,
            n_tokens,
            q.stride(1),
            q.stride(2),
            HEAD_DIM=head_dim,
            CAUSAL=self.causal,
        )
        return out


def get_inputs():
    return [torch.randn(BATCH, HEADS, TOKENS, HEAD_DIM, dtype=torch.float16) for _ in range(3)]


def get_init_inputs():
    return [0]
