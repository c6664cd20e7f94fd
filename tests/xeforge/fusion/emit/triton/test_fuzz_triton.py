"""A few random programs through Triton's interpreter; the long run is `benchmarks.fusion`."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]


def test_random_programs_are_right(tmp_path):
    out = tmp_path / "found.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fusion.fuzz_triton", "--programs", "15", "--out", out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["programs"] == found["right"] == 15
    assert found["statements"] > 30
    assert found["failing"] == []
