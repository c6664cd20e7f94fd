"""Row-wise softmax, then a scaled sum by a persistent kernel; a library call in between."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + lane, mask=lane < columns, other=float("-inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + lane, values / tl.sum(values, axis=0), mask=lane < columns)


@triton.jit
def scaled_sum(x, y, z, count, scale, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, count, tl.num_programs(0) * BLOCK):
        lane = start + tl.arange(0, BLOCK)
        total = tl.load(x + lane, mask=lane < count) + tl.load(y + lane, mask=lane < count)
        tl.store(z + lane, total * scale, mask=lane < count)


class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        rows, columns = x.shape
        y = torch.empty_like(x)
        softmax[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
        r = torch.relu(y)
        z = torch.empty_like(x)
        units = torch.cuda.get_device_properties(x.device).multi_processor_count
        scaled_sum[(units,)](r, x, z, x.numel(), self.scale, BLOCK=1024)
        return z
