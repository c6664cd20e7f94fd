"""The reference of all self-test kernels: twice its input, exact in every format."""

import torch


class Model(torch.nn.Module):
    """Doubles."""

    def forward(self, x, more):
        """Return twice the input."""
        return x * 2
