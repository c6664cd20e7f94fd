"""Matrix product of two inputs."""

import torch
import torch.nn as nn

M = 128
N = 96
K = 160


class Model(nn.Module):
    """Multiplies two matrices."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    a = torch.randn(M, K, dtype=torch.float16)
    b = torch.randn(K, N, dtype=torch.float16)
    return [a, b]


def get_init_inputs():
    return []
