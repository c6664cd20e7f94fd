"""Every example computes what its reference computes, on even and ragged shapes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
NAMES = tuple(sorted(path.stem for path in EXAMPLES.glob("*.yaml")))


@pytest.fixture(scope="module")
def records():
    """Interpret the small entries of all examples in one child."""
    request = [
        [
            str(EXAMPLES / f"{name}.py"),
            str(EXAMPLES / f"{name}_pytorch.py"),
            str(EXAMPLES / f"{name}.yaml"),
            "ci",
        ]
        for name in NAMES
    ]
    done = subprocess.run(
        [sys.executable, str(HERE / "interpret.py")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def of(records, name):
    return [each for each in records if Path(each["kernel"]).stem == name]


def test_there_are_at_least_eight_examples():
    assert len(NAMES) >= 8


@pytest.mark.parametrize("name", NAMES)
def test_values_agree_with_the_reference_in_float64(records, name):
    found = of(records, name)
    assert len(found) >= 2
    for each in found:
        assert each["wrong"] == 0, each
        assert each["worst"] <= max(3 * each["reference_worst"], 1e-6), each


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_shaped_like_the_reference_and_inputs_stay(records, name):
    for each in of(records, name):
        assert each["dtype_kept"], each
        assert each["shape_kept"], each
        assert each["strides_kept"], each
        assert each["inputs_kept"], each


@pytest.mark.parametrize("name", NAMES)
def test_small_entries_suit_the_interpreter(records, name):
    for each in of(records, name):
        assert each["seconds"] < 20, each


@pytest.mark.parametrize("name", NAMES)
def test_the_three_files_belong_together(name):
    kernel = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    reference = (EXAMPLES / f"{name}_pytorch.py").read_text(encoding="utf-8")
    spec = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    for text in (kernel, reference):
        assert "class Model(nn.Module):" in text
        assert "def get_inputs():" in text
        assert "def get_init_inputs():" in text
    assert "@triton.jit" in kernel
    assert "triton" not in reference
    assert spec["default_variant"] == "bench-gpu"
    assert len(spec["ci"]) >= 2
    assert len(spec["bench-gpu"]) >= 2


def test_the_readme_lists_exactly_the_examples():
    rows = [
        line.split("`")[1]
        for line in (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert sorted(rows) == list(NAMES)
