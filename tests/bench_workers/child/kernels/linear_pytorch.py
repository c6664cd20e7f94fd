import torch


class Model(torch.nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width, depth) * 0.1)

    def forward(self, x):
        return torch.nn.functional.linear(x, self.weight)
