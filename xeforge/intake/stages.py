"""Names of the stages a user may ask for."""

from collections.abc import Sequence
from typing import Final

from xeforge.errors import BadRequest
from xeforge.intake.marks import nearest

STAGE_NAMES: Final = (
    "algorithmic",
    "discovery",
    "dtype_fix",
    "fusion",
    "memory_access",
    "block_pointers",
    "persistent_kernel",
    "device_specific",
    "autotuning",
)
"""The optimization stages; a test keeps them equal to those of the pipeline."""
STAGE_ALIASES: Final = {"xpu_specific": "device_specific", "stream_k": "persistent_kernel"}
"""Names of other tools for the same stages."""
ALWAYS_RUN: Final = frozenset({"analysis"})
"""A stage of other tools that is part of every job here and therefore left out when named."""


def read_stages(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stages asked for, each once, and notes; letter case and dashes do not matter.

    Raises:
        BadRequest: There is no such stage.
    """
    found: list[str] = []
    notes: list[str] = []
    for name in names:
        plain = name.strip().lower().replace("-", "_")
        if plain in ALWAYS_RUN:
            notes.append(f"stage {name!r} is part of every job")
            continue
        stage = STAGE_ALIASES.get(plain, plain)
        if stage not in STAGE_NAMES:
            raise BadRequest(
                f"unknown stage {name!r}{nearest(plain, (*STAGE_NAMES, *STAGE_ALIASES))}",
                field="stages",
                remedy=f"one of {', '.join(STAGE_NAMES)}",
            )
        if stage != name:
            notes.append(f"stage {name!r} is called {stage!r} here")
        found.append(stage)
    if names and not found:
        raise BadRequest(
            "no optimization stage is left",
            field="stages",
            remedy=f"name at least one of {', '.join(STAGE_NAMES)}",
        )
    return tuple(dict.fromkeys(found)), tuple(notes)
