"""A small sound base in a folder, to plant faults in."""

from pathlib import Path

import pytest

PACK = """\
pack: small
about: A pack that is sound, to plant faults in.
sources:
  guide: {title: A guide, url: https://example.invalid/guide}
  mine: {title: my own measurements}
constraints:
  - id: small.few_warps
    scope: launch
    when: has_dot
    require: num_warps <= 8
    says: A product takes at most eight warps here.
    remedy: Take eight warps.
    strength: documented
    evidence: [guide]
    holds: {num_warps: 8}
    breaks: {num_warps: 16}
recipes:
  - id: small.fuse
    stage: fusion
    cures: [unfused_elementwise]
    when: launches >= 2
    says: Put the chain into one kernel.
    hurts: Where the vendor has fused it already.
    example: twice
    effect: {expect: Fewer bytes are moved., strength: expected}
    strength: claimed
    evidence: [mine]
    turns: {fusion: "on"}
"""
PAIRS = """\
pairs:
  twice:
    about: Doubles by adding, then by multiplying.
    inputs: {x: {shape: [N], dtype: float32}}
    small: {N: 37}
    large: {N: 65536}
"""
KERNEL = '''"""Doubles."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, COUNT, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < COUNT)
    tl.store(y_ptr + at, {value}, mask=at < COUNT)


def run(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y
'''


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A folder with one sound pack and its example."""
    folder = tmp_path / "sound"
    (folder / "examples").mkdir(parents=True)
    (folder / "small.yaml").write_text(PACK, encoding="utf-8")
    (folder / "examples" / "pairs.yaml").write_text(PAIRS, encoding="utf-8")
    for when, value in (("before", "x + x"), ("after", "x * 2.0")):
        path = folder / "examples" / f"twice.{when}.py"
        path.write_text(KERNEL.format(value=value), encoding="utf-8")
    return folder


@pytest.fixture
def plant(sound: Path):
    """Replace one piece of text of the sound pack; return the line of the change."""

    def change(old: str, new: str, file: str = "small.yaml") -> int:
        path = sound / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) >= 1
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    return change
