"""Linear layer with the exact GELU."""

import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 48
FEATURES_IN = 96
FEATURES_OUT = 80


class Model(nn.Module):
    """Linear layer followed by the exact GELU."""

    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features_out, features_in) * features_in**-0.5)
        self.bias = nn.Parameter(torch.randn(features_out) * 0.1)

    def forward(self, x):
        return F.gelu(F.linear(x, self.weight, self.bias))


def get_inputs():
    return [torch.randn(TOKENS, FEATURES_IN)]


def get_init_inputs():
    return [FEATURES_IN, FEATURES_OUT]
