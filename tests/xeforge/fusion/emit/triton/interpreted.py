"""Runs a file in a process of its own: Triton's interpreter is chosen when triton is loaded."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]


def printed_by(path):
    """Run a file; return the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, path],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
