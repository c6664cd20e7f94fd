"""Both kernels of every example give the same answer in Triton's interpreter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from knowledge.packs import load_base

ROOT = Path(__file__).parents[2]
RUN_ALL = """
import json, sys
from knowledge import pair_runner
pair_runner.use_first_configuration()
answers = {}
for pair in json.load(sys.stdin):
    try:
        answers[pair["name"]] = pair_runner.compare(pair, device="cpu")
    except Exception as error:
        answers[pair["name"]] = f"{type(error).__name__}: {error}"
print(json.dumps(answers))
"""
PAIRS = load_base().pairs


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """Run all pairs in one process, because importing torch takes longer than most of them."""
    given = [
        {
            "name": pair.name,
            "inputs": [{"shape": t.shape, "dtype": t.dtype, "fill": t.fill} for t in pair.inputs],
            "small": dict(pair.small),
            "rtol": pair.rtol,
            "atol": pair.atol,
            "before": str(pair.before),
            "after": str(pair.after),
        }
        for pair in PAIRS.values()
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN_ALL],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        timeout=240,
    )
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_before_and_after_agree(answers, name):
    assert answers[name] == ""


def test_a_difference_is_seen():
    import torch

    from knowledge.pair_runner import difference

    one = torch.ones(8)
    assert difference(one, one, rtol=0.0, atol=0.0) == ""
    assert "1 of 8 elements differ" in difference(one + torch.eye(8)[0], one, rtol=1e-3, atol=1e-3)
    assert "instead of" in difference(one[:4], one, rtol=0.0, atol=0.0)
    assert "torch.float16" in difference(one.half(), one, rtol=0.0, atol=0.0)
    assert "not finite" in difference(one / 0, one, rtol=0.0, atol=0.0)


@pytest.mark.parametrize("fill", ["normal", "positive"])
def test_inputs_are_drawn_as_declared(fill):
    from knowledge.pair_runner import make_inputs

    tensors = [{"shape": ["A", "B"], "dtype": "float16", "fill": fill}]
    (one,) = make_inputs(tensors, {"A": 3, "B": 5}, device="cpu", seed=1)
    (two,) = make_inputs(tensors, {"A": 3, "B": 5}, device="cpu", seed=1)
    assert tuple(one.shape) == (3, 5)
    assert str(one.dtype) == "torch.float16"
    assert bool((one == two).all())
    assert bool((one > 0).all()) == (fill == "positive")
