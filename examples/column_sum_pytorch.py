"""Sum over the rows of a matrix."""

import torch
import torch.nn as nn

ROWS = 96
COLUMNS = 200


class Model(nn.Module):
    """Sums each column of a matrix."""

    def forward(self, x):
        return torch.sum(x, dim=0)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
