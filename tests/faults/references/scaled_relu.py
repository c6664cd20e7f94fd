import torch.nn as nn


class Model(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return x.relu() * self.gain
