"""What is generated from the code and the packs is up to date."""

import json

import pytest

from benchmarks.knowledge.plan import NOT_TIMED
from benchmarks.knowledge.plan import PLAN
from benchmarks.knowledge.plan import plan_text
from knowledge.packs import load_base
from knowledge.schema import FOLDER
from knowledge.schema import MODELS
from knowledge.schema import schema_text
from xeforge.domain.issue import ISSUE_TYPES


@pytest.mark.parametrize("name", MODELS)
def test_schemas_are_up_to_date(name):
    written = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    assert written == schema_text(name), "run python -m knowledge.schema"


def test_there_is_no_other_schema():
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in MODELS}


def test_the_pack_schema_completes_stages_and_issues():
    recipe = json.loads(schema_text("pack"))["$defs"]["RecipeEntry"]
    assert set(recipe["properties"]["cures"]["items"]["enum"]) == set(ISSUE_TYPES)
    assert "fusion" in recipe["properties"]["stage"]["enum"]
    assert recipe["additionalProperties"] is False


def test_the_plan_of_the_card_benchmark_is_up_to_date():
    assert PLAN.read_text(encoding="utf-8") == plan_text(), (
        "run python -m benchmarks.knowledge.plan"
    )


def test_enough_recipes_are_timed():
    pairs = json.loads(PLAN.read_text(encoding="utf-8"))
    assert len({recipe for each in pairs for recipe in each["recipes"]}) >= 15
    assert load_base().pairs.keys() >= NOT_TIMED.keys()


def test_ratios_are_taken_over_neighbours():
    from benchmarks.knowledge.effects import summary

    found = summary([2.0, 4.0, 6.0, 8.0], [1.0, 2.0, 3.0, 2.0])
    assert found["ratio"] == 2.0
    assert found["low"] == 2.0
    assert found["high"] == 2.0
    assert found["before_ms"] == 5.0
    assert found["turns"] == 4
