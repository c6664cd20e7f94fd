"""Scaled dot-product attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
HEADS = 2
TOKENS = 48
HEAD_DIM = 64


class Model(nn.Module):
    """Scaled dot-product attention over ``[batch, heads, tokens, head_dim]`` tensors."""

    def __init__(self, causal):
        super().__init__()
        self.causal = bool(causal)

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)


def get_inputs():
    return [torch.randn(BATCH, HEADS, TOKENS, HEAD_DIM, dtype=torch.float16) for _ in range(3)]


def get_init_inputs():
    return [0]
