"""Gated activation with bias, scale and residual."""

import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 40
WIDTH = 96


class Model(nn.Module):
    """Computes ``silu(x + bias) * gate * scale + residual``."""

    def __init__(self, width, scale):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.scale = scale

    def forward(self, x, gate, residual):
        return F.silu(x + self.bias) * gate * self.scale + residual


def get_inputs():
    return [torch.randn(TOKENS, WIDTH) for _ in range(3)]


def get_init_inputs():
    return [WIDTH, 0.5]
