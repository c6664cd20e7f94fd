"""Bias and scaled SiLU."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Computes ``silu(x + bias) * factor``."""

    def __init__(self, width, factor):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.factor = factor

    def forward(self, x):
        return F.silu(x + self.bias) * self.factor
