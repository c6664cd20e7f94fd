"""Batched product with a transposed right operand."""

import torch
import torch.nn as nn

BATCH = 3
ROWS = 48
COLUMNS = 40
INNER = 64


class Model(nn.Module):
    """Computes ``a[i] @ b[i].T`` for every batch entry."""

    def forward(self, a, b):
        return torch.bmm(a, b.transpose(1, 2))


def get_inputs():
    return [torch.randn(BATCH, ROWS, INNER), torch.randn(BATCH, COLUMNS, INNER)]


def get_init_inputs():
    return []
