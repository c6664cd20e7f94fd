"""JSON Schemas of the YAML files, for editors: ``python -m knowledge.schema`` writes them."""

import json
from pathlib import Path

from pydantic import BaseModel

from knowledge.entries import PackEntry
from knowledge.entries import PairsEntry
from knowledge.model import DeviceEntry
from xeforge.domain.issue import ISSUE_TYPES
from xeforge.intake.stages import STAGE_NAMES

FOLDER = Path(__file__).parent / "schema"
MODELS: dict[str, type[BaseModel]] = {
    "device": DeviceEntry,
    "pack": PackEntry,
    "pairs": PairsEntry,
}


def schema_text(name: str) -> str:
    """Return the schema of one kind of file; stages and issues are listed for completion."""
    schema = MODELS[name].model_json_schema(mode="validation")
    recipe = schema.get("$defs", {}).get("RecipeEntry")
    if recipe is not None:
        recipe["properties"]["stage"]["enum"] = list(STAGE_NAMES)
        recipe["properties"]["cures"]["items"]["enum"] = sorted(ISSUE_TYPES)
    return (
        json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema, indent=1)
        + "\n"
    )


def main() -> None:
    """Write all schemas."""
    FOLDER.mkdir(exist_ok=True)
    for name in MODELS:
        (FOLDER / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
