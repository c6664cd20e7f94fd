"""Layer norm over the last dimension."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 32
WIDTH = 320


class Model(nn.Module):
    """Layer norm over the last dimension with learned scale and shift."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, (x.shape[-1],), self.weight, self.bias, self.eps)


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH, 1e-5]
