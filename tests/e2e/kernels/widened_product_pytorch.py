"""Reference: the product by PyTorch."""

import torch


class Model(torch.nn.Module):
    """Returns ``a @ b``."""

    def forward(self, a, b):
        return a @ b
