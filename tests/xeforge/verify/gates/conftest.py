"""Submits a kernel and asks the gate about a change to it."""

import pytest

from xeforge.verify.gate import gate

KERNEL = '''
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

WIDTH = 64


@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, STAGES: tl.constexpr = 2):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.exp(x) + 1, mask=offs < n)


def prepare(weight):
    return weight @ weight.t()


class Model(nn.Module):
    """Adds."""

    def __init__(self, width, scale=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))
        self.linear = nn.Linear(width, width)
        self.register_buffer("step", torch.zeros(1))
        self.width = width

    def forward(self, x, *, out=None):
        y = torch.empty_like(x)
        w = F.relu(self.weight)
        w = w.sum(dim=0)
        grid = (triton.cdiv(x.numel(), 128),)
        add_kernel[grid](x, y, x.numel(), BLOCK=128, num_warps=4)
        return y


def get_inputs():
    return [torch.randn(WIDTH, WIDTH)]


def get_init_inputs():
    return [WIDTH]
'''


@pytest.fixture(scope="session")
def ask(make):
    """Return a function: replace text in the kernel (or give a whole source), ask the gate."""

    def ask(*changes, source=KERNEL, kernel=KERNEL, device=None, workloads=()):
        for old, new in changes:
            assert old in source
            source = source.replace(old, new)
        asked = make.problem(*workloads, kernel=kernel)
        return [each for each in gate(asked, source, device or make.device) if not each.passed]

    return ask


@pytest.fixture(scope="session")
def kernel():
    """The submitted kernel."""
    return KERNEL
