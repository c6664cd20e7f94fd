"""Measured effects of recipes are those of a record in this repository."""

import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "benchmarks/results/h200-2026-12-01/effects.json"
SOURCE = "ours_effects"


def measured():
    """Return the recipes whose effect names the record."""
    for path in sorted((ROOT / "knowledge/packs").glob("*.yaml")):
        pack = yaml.safe_load(path.read_text())
        for recipe in pack.get("recipes") or ():
            if recipe["effect"].get("source") == SOURCE:
                assert str(RECORD.relative_to(ROOT)) in pack["sources"][SOURCE]["title"]
                yield recipe


PAIRS = {each["pair"]: each for each in json.loads(RECORD.read_text())["pairs"]}


@pytest.mark.parametrize("recipe", list(measured()), ids=lambda each: each["id"])
def test_the_ratio_is_that_of_the_pair(recipe):
    pair = PAIRS[recipe["example"]]
    assert recipe["id"] in pair["recipes"]
    assert recipe["effect"]["ratio"] == pytest.approx(pair["ratio"], abs=0.006)
    assert recipe["effect"]["device"] == "nvidia-h200"
    assert pair["trouble"] == ""


def test_there_are_many_and_no_pair_speaks_for_two():
    examples = [each["example"] for each in measured()]
    assert len(examples) == len(set(examples)) >= 15
