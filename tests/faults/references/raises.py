import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        raise ValueError("this reference does not know how to double")
