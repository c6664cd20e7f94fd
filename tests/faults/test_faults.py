"""The faulty kernels have the faults they are listed with, and the honest ones have none."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.broken import BROKEN
from tests.faults.broken import write_broken
from tests.faults.expected import BAD_REFERENCES
from tests.faults.expected import FAULTS
from tests.faults.expected import HONEST
from tests.faults.expected import REFUSED

FOLDER = Path(__file__).parent
INTERPRET = FOLDER.parent / "examples" / "interpret.py"
LISTED = {**FAULTS, **REFUSED, **HONEST}
RUNNABLE = {
    name: each
    for name, each in LISTED.items()
    if each.is_right_as_declared is not None and name != "hard_coded_xpu.py"
}


@pytest.fixture(scope="module")
def records():
    """Interpret everything that can be run safely, in one child."""
    request = [
        [str(FOLDER / name), str(each.reference_path), str(each.spec_path), "ci"]
        for name, each in RUNNABLE.items()
    ]
    done = subprocess.run(
        [sys.executable, str(INTERPRET)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert done.returncode == 0, done.stderr
    return {Path(each["kernel"]).name: each for each in json.loads(done.stdout)}


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_kernel_is_right_exactly_where_the_list_says_so(records, name):
    found = records[name]
    is_right = "raised" not in found and all(
        (
            found["wrong"] == 0,
            found["dtype_kept"],
            found["shape_kept"],
            found["inputs_kept"],
        )
    )
    assert is_right == RUNNABLE[name].is_right_as_declared, found


def test_every_kernel_file_is_listed_once():
    kernels = {path.name for path in FOLDER.glob("*.py")}
    support = {"expected.py", "broken.py", Path(__file__).name}
    assert kernels - support == set(LISTED)
    assert len(LISTED) == len(FAULTS) + len(REFUSED) + len(HONEST)
    assert not set(BROKEN) & set(LISTED)


def test_every_reference_and_spec_exists_and_is_used():
    for folder in ("references", "specs"):
        used = {
            path.name
            for each in (*LISTED.values(), *BAD_REFERENCES.values())
            for path in (each.reference_path, each.spec_path)
            if path is not None and path.parent.name == folder
        }
        there = {path.name for path in (FOLDER / folder).iterdir() if path.is_file()}
        assert used == there


@pytest.mark.parametrize("name", [name for name, each in FAULTS.items() if each.line])
def test_the_line_to_blame_is_named_once(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    assert sum(FAULTS[name].line in line for line in lines) == 1


def test_the_readme_lists_the_same_files():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    wanted = [*LISTED, *BROKEN, *(f"references/{name}" for name in BAD_REFERENCES)]
    assert sorted(rows) == sorted(wanted)


@pytest.mark.parametrize("name", [*FAULTS, *REFUSED, *BAD_REFERENCES])
def test_the_readme_tells_the_exit_codes(name):
    expected = {**FAULTS, **REFUSED}.get(name) or BAD_REFERENCES[name]
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    codes = " or ".join(str(code) for code in expected.exit_codes)
    assert f"`{name}` | {codes} |" in text or f"`references/{name}` | {codes} |" in text


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_no_readable_kernels(name, tmp_path):
    path = write_broken(name, tmp_path)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    assert not [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
