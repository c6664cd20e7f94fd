"""Every recipe on every sample: the rewritten file must give the same numbers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.xeforge.propose.samples_all import ALL
from xeforge.propose.recipes import RECIPES

RUNNER = Path(__file__).with_name("interpreted_pairs.py")
BY_NAME = {each.NAME: each for each in RECIPES}
CASES = [(recipe, sample) for recipe, samples in ALL.items() for sample in samples]


def rewrites(make, recipe, sample):
    timed = make.workload(*sample.timed, dtype=sample.dtype, init_args=sample.init or None)
    problem = make.problem(sample.source, [timed])
    return BY_NAME[recipe].apply(sample.source, problem, make.device)


@pytest.fixture(scope="module")
def results(makers):
    pairs = [
        {
            "name": f"{recipe}/{name}/{number}",
            "original": ALL[recipe][name].source,
            "rewritten": rewrite.source,
            "shapes": shapes,
            "init": ALL[recipe][name].init,
            "dtype": ALL[recipe][name].dtype,
        }
        for recipe, name in CASES
        for number, rewrite in enumerate(rewrites(makers, recipe, ALL[recipe][name]))
        for shapes in ALL[recipe][name].runs
    ]
    done = subprocess.run(
        [sys.executable, str(RUNNER)],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("recipe", "name"), CASES)
def test_rewritten_kernel_gives_the_same_numbers(results, recipe, name):
    own = [each for each in results if each["name"].startswith(f"{recipe}/{name}/")]
    sample = ALL[recipe][name]
    assert len(own) >= len(sample.runs), "no rewrite"
    for each in own:
        assert each["same"]
        assert each["finite"]
        assert each["scale"] > 0
        assert each["worst"] <= sample.tolerance * each["scale"], each


def test_every_recipe_has_samples():
    assert set(ALL) == set(BY_NAME)
