"""What compiler reports add: kernels that spill in every configuration tried."""

from dataclasses import replace
from pathlib import Path

import pytest

from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.submission import SourceFile
from xeforge.intake.issues import find_issues

ROOT = Path(__file__).parents[4]
REPORT = BuildReport("?", "timed", {}, 4, 3, 255, 512, 49152)


def spoken(name, kernel, *spilled):
    """Return the types found in an example whose builds spilled so many bytes."""
    text = (ROOT / "examples" / name).read_text(encoding="utf-8")
    reports = tuple(replace(REPORT, kernel=kernel, spill_bytes=each) for each in spilled)
    found = find_issues(SourceFile(name, text), None, build=BuildEvidence(reports))
    return {each.type: each for each in found}


def test_a_fused_kernel_that_spills():
    found = spoken("attention_forward.py", "attention_kernel", 512, 64)["fusion_register_pressure"]
    assert "512 bytes" in found.message
    assert found.line == 23


def test_a_plain_kernel_that_spills():
    found = spoken("matmul_upcast.py", "matmul_kernel", 128)
    assert "128 bytes" in found["high_register_pressure"].message
    assert "fusion_register_pressure" not in found


@pytest.mark.parametrize("spilled", [(), (0,), (512, 0), (None,)])
def test_spills_that_the_tuner_can_avoid_or_nobody_knows_of(spilled):
    found = spoken("attention_forward.py", "attention_kernel", *spilled)
    assert not found.keys() & {"fusion_register_pressure", "high_register_pressure"}


def test_reports_of_failed_builds_and_of_other_kernels_say_nothing():
    text = (ROOT / "examples" / "matmul_upcast.py").read_text(encoding="utf-8")
    reports = (
        replace(REPORT, kernel="matmul_kernel", error="out of registers"),
        replace(REPORT, kernel="library_kernel"),
    )
    found = find_issues(SourceFile("m.py", text), None, build=BuildEvidence(reports))
    assert "high_register_pressure" not in {each.type for each in found}
