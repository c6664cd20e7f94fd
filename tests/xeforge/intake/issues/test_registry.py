from pathlib import Path

import pytest

from xeforge.domain.issue import ISSUE_TYPES
from xeforge.domain.submission import SourceFile
from xeforge.errors import BadKernel
from xeforge.intake import issues
from xeforge.intake.issues import DETECTORS
from xeforge.intake.issues import MODEL_ONLY
from xeforge.intake.issues import find_issues
from xeforge.pipeline.stages import STAGES


def test_every_file_is_registered_under_its_own_name():
    folder = Path(issues.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {
        "__init__",
        "detector",
        "model_only",
    }
    assert files == {each.NAME for each in DETECTORS}
    assert all(each.__name__.endswith(f".{each.NAME}") for each in DETECTORS)


def test_slow_spots_have_a_stage_that_cures_them():
    cured = {name for stage in STAGES for name in stage.cures}
    about_faults = {
        "grid_block_mismatch",
        "constructor_argument_order",
        "unused_constructor_argument",
        "constant_instead_of_argument",
        "hard_coded_device",
    }
    assert {each.NAME for each in DETECTORS} - cured == about_faults


def test_every_type_that_a_stage_cures_is_detected_or_said_to_be_for_a_model():
    cured = {name for stage in STAGES for name in stage.cures}
    detected = {each.NAME for each in DETECTORS}
    assert cured == ISSUE_TYPES.keys()
    assert MODEL_ONLY.keys() == cured - detected
    assert all(MODEL_ONLY.values())


def test_every_detector_says_what_it_looks_for_what_it_misses_and_by_which_source():
    for each in DETECTORS:
        if each.NAME in ISSUE_TYPES:
            words = set((each.__doc__ or "").split())
            assert {"Looks", "Misses", "Source:"} <= words, each.NAME


def test_everything_is_found_in_the_order_of_the_registry():
    text = """
import torch, triton
import triton.language as tl

@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n).to(tl.float64), mask=offs < n)

class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x, device="xpu")
        k[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=64)
        return y.cpu()
"""
    found = find_issues(SourceFile("k.py", text), None)
    assert [each.type for each in found] == [
        "grid_block_mismatch",
        "hard_coded_device",
        "device_host_sync",
        "dtype_float64",
        "suboptimal_tile_size",
        "missing_autotune",
    ]


def test_unreadable_reference_is_named():
    kernel = SourceFile("k.py", "import triton\n@triton.jit\ndef k(p): pass\n")
    with pytest.raises(BadKernel, match=r"r\.py"):
        find_issues(kernel, SourceFile("r.py", "def f(:\n"))
