"""Tensor descriptors made by the host and by the device."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def doubled_by_host(x, y, BM: tl.constexpr, BN: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    y.store([row, column], x.load([row, column]) * 2)


@triton.jit
def doubled_by_device(x, y, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [BM, BN])
    target.store([row, column], source.load([row, column]) * 2)


class Model(torch.nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        y, z = torch.empty_like(x), torch.empty_like(x)
        grid = (triton.cdiv(rows, 128), triton.cdiv(columns, 64))
        left = TensorDescriptor.from_tensor(x, [128, 64])
        right = TensorDescriptor.from_tensor(y, [128, 64])
        doubled_by_host[grid](left, right, BM=128, BN=64)
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
        doubled_by_device[grid](y, z, rows, columns, BM=128, BN=64)
        return z
