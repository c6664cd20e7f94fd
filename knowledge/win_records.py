"""Wins and losses of recipes as JSON, to be looked at, edited and given to another machine.

    {"nvidia-h200": {"tiles.group_tile_rows": {"tried": 5, "won": 3}}}

A file may leave the devices out; then it is taken to be about the device that is asked for.
"""

import json
from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field
from pydantic import TypeAdapter
from pydantic import ValidationError

from xeforge.domain.wins import WinRecord
from xeforge.domain.wins import WinsByDevice
from xeforge.errors import BadRequest
from xeforge.intake.marks import nearest

_FORM = 'write {"DEVICE": {"pack.recipe": {"tried": 3, "won": 1}}}, as `xeforge kb record --json`'


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    tried: Annotated[int, Field(ge=0)]
    won: Annotated[int, Field(ge=0)]


_OF_ONE = TypeAdapter(dict[str, _Entry])
_OF_ALL = TypeAdapter(dict[str, dict[str, _Entry]])


def dumps_wins(wins: WinsByDevice) -> str:
    """Write what was measured; what only a cost model said is left out."""
    plain = {
        device: {
            recipe: {"tried": each.tried, "won": each.won}
            for recipe, each in records.items()
            if each.tried
        }
        for device, records in wins.items()
    }
    return json.dumps({device: each for device, each in plain.items() if each}, indent=2) + "\n"


def read_wins(
    path: Path, *, device: str, recipes: Iterable[str], devices: Iterable[str]
) -> dict[str, WinRecord]:
    """Read the wins and losses of one device.

    Args:
        path: JSON file.
        device: Whose.
        recipes: Ids that there are.
        devices: Models that there are.

    Raises:
        BadRequest: No such file, another form, an unknown recipe or device, or more wins than
            trials.
    """
    by_device = _read(path, device)
    known, models = sorted(recipes), sorted(devices)
    for model, entries in by_device.items():
        if model not in models:
            message = f"no device is called {model!r}{nearest(model, models)}"
            raise BadRequest(message, file=path, remedy="see `xeforge devices`")
        for name, entry in entries.items():
            if name not in known:
                message = f"no recipe is called {name!r}{nearest(name, known)}"
                raise BadRequest(message, file=path, remedy="see `xeforge kb list`")
            if entry.won > entry.tried:
                message = f"{name}: {entry.won} wins in {entry.tried} trials"
                raise BadRequest(message, file=path, remedy="count each win as a trial, too")
    own = by_device.get(device, {})
    return {name: WinRecord(entry.tried, entry.won) for name, entry in own.items()}


def _read(path: Path, device: str) -> Mapping[str, Mapping[str, _Entry]]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        # The name of a recipe has a dot, that of a device has none.
        if isinstance(data, dict) and any("." in key for key in data):
            return {device: _OF_ONE.validate_python(data)}
        return _OF_ALL.validate_python(data)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        message = f"no record of wins: {fault['msg']}"
        raise BadRequest(message, file=path, field=place or None, remedy=_FORM) from None
    except (OSError, ValueError) as error:
        raise BadRequest(f"no record of wins: {error}", file=path, remedy=_FORM) from None
