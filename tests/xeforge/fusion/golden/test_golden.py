"""What the compiler writes, kept as files: a change of them is seen, and each of them is run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.xeforge.fusion.golden.cases import FOLDER
from tests.xeforge.fusion.golden.cases import GRAPHS
from tests.xeforge.fusion.golden.cases import TARGETS
from tests.xeforge.fusion.golden.cases import path_of
from tests.xeforge.fusion.golden.cases import text_of

ROOT = Path(__file__).resolve().parents[4]
MOST_ERROR = 2e-6


@pytest.mark.parametrize("language", TARGETS)
@pytest.mark.parametrize("name", GRAPHS)
def test_the_compiler_writes_the_kept_file(name, language):
    kept = path_of(name, language).read_text(encoding="utf-8")

    assert text_of(name, language) == kept, "run `make golden` and look at what changed"


def test_no_file_is_left_over():
    wanted = {path_of(name, language) for name in GRAPHS for language in TARGETS}

    assert set(FOLDER.iterdir()) == wanted


@pytest.mark.parametrize("language", TARGETS)
def test_each_kept_file_computes_what_torch_does(language, tmp_path, monkeypatch):
    monkeypatch.setenv("XEFORGE_HOME", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "tests.xeforge.fusion.golden.run", language],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout)

    assert set(errors) == set(GRAPHS)
    assert {name: each for name, each in errors.items() if not each <= MOST_ERROR} == {}
