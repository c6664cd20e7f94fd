import torch.nn as nn


class Model(nn.Module):
    def forward(self, table, index):
        return table[index]
