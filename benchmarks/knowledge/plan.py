"""Writes `plan.json`: which example pairs are timed on a card, at which sizes, for which recipes.

    python -m benchmarks.knowledge.plan

The card's machine needs nothing but torch and triton, so that it is handed JSON instead of YAML.
"""

import json
from pathlib import Path
from typing import Any

from knowledge.packs import load_base

PLAN = Path(__file__).parent / "plan.json"
ROOT = Path(__file__).parents[2]
NOT_TIMED = {
    "large_registers": "an option of Intel GPUs",
    "small_registers": "an option of Intel GPUs",
    "complete_key": "shows in a second shape only",
    "tuned_once": "shows in the time of tuning only",
    "wide_offsets": "a repair of correctness",
    "wide_sums": "a repair of correctness",
}
"""Pairs that one shape on an NVIDIA card says nothing about."""


def plan() -> list[dict[str, Any]]:
    """Return the timed pairs, with paths relative to the repository."""
    base = load_base()
    shown: dict[str, list[str]] = {}
    for recipe in base.recipes:
        shown.setdefault(recipe.example, []).append(recipe.id)
    return [
        {
            "name": pair.name,
            "recipes": shown.get(pair.name, []),
            "inputs": [
                {"name": t.name, "shape": list(t.shape), "dtype": t.dtype, "fill": t.fill}
                for t in pair.inputs
            ],
            "small": dict(pair.small),
            "large": dict(pair.large),
            "rtol": pair.rtol,
            "atol": pair.atol,
            "before": str(pair.before.relative_to(ROOT)),
            "after": str(pair.after.relative_to(ROOT)),
        }
        for pair in base.pairs.values()
        if pair.name not in NOT_TIMED
    ]


def plan_text() -> str:
    """Return the plan as it stands in the file."""
    return json.dumps(plan(), indent=1) + "\n"


if __name__ == "__main__":
    PLAN.write_text(plan_text(), encoding="utf-8")
