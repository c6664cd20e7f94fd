"""Runs the command line in this process, as a user would type it."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from xeforge.app.main import run

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return " ".join(self.err.split())


@pytest.fixture
def xeforge(monkeypatch, capfd, tmp_path):
    """Return a function that runs `xeforge ARGS` with its own job folder and work folder."""
    monkeypatch.setenv("XEFORGE_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)

    def command(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["xeforge", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capfd.readouterr()
        return Outcome(int(ended.value.code or 0), captured.out, captured.err)

    return command


@pytest.fixture
def kernel(tmp_path) -> Path:
    """A small correct kernel with reference and spec beside it."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "scale.py").write_text(KERNEL, encoding="utf-8")
    (folder / "scale_pytorch.py").write_text(REFERENCE, encoding="utf-8")
    (folder / "scale.yaml").write_text(SPEC, encoding="utf-8")
    return folder / "scale.py"


KERNEL = '''"""Scales a vector."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=mask) * FACTOR, mask=mask)


class Model(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        scale_kernel[(triton.cdiv(n, 64),)](x, y, n, FACTOR=self.factor, BLOCK=64)
        return y


def get_inputs():
    return [torch.randn(300)]


def get_init_inputs():
    return [2.0]
'''

REFERENCE = """import torch


class Model(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor
"""

SPEC = """inputs:
  X: {shape: [N], dtype: float32}
inits:
  - dim: FACTOR
ci:
  - {params: [X], dims: {N: 300, FACTOR: 2.0}}
bench-gpu:
  - {params: [X], dims: {N: 4194304, FACTOR: 2.0}, flop: "N", mem_bytes: "8*N"}
"""
