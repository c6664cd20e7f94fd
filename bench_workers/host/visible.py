"""Which card the user has chosen, by the variables that the vendors' own tools understand."""

import os
import re

from xeforge.domain.device import Backend

VARIABLES: dict[Backend, str] = {"cuda": "CUDA_VISIBLE_DEVICES", "xpu": "ZE_AFFINITY_MASK"}
_FIRST = "0"


def card_id(backend: Backend) -> str:
    """Return the number or the UUID of the card that children see as their first one."""
    chosen = os.environ.get(VARIABLES.get(backend, ""), "").split(",")[0].strip()
    return re.sub(r"[^A-Za-z0-9.-]", "", chosen) or _FIRST
