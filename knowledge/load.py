"""Reads device files, refuses what is wrong in them with its place, and freezes the rest."""

from collections.abc import Iterator
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from knowledge.model import DeviceEntry
from knowledge.model import Fact
from knowledge.model import contradictions
from xeforge.domain.device import BlockLoad
from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.device import MatrixShape
from xeforge.domain.device import RegisterMode
from xeforge.domain.device import Tile
from xeforge.domain.device import TritonSupport
from xeforge.errors import BadRequest
from xeforge.errors import BadSpec
from xeforge.intake.marks import Document
from xeforge.intake.marks import nearest
from xeforge.intake.marks import read_yaml

DEVICES = Path(__file__).parent / "devices"
_REMEDY = "see knowledge/README.md and the other files of this folder"


@cache
def load_devices(folder: Path = DEVICES) -> Mapping[str, Device]:
    """Return all device models by name, in alphabetical order.

    Read once per process.

    Raises:
        BadSpec: A file is wrong; the error names file, line and field.
    """
    devices = {path.stem: read_device(path) for path in sorted(folder.glob("*.yaml"))}
    owners: dict[str, str] = {}
    for name, device in devices.items():
        for product in device.match:
            if product in owners:
                raise BadSpec(
                    f"{product!r} is claimed by {owners[product]} and {name}",
                    file=folder / f"{name}.yaml",
                    field="match",
                    remedy="a product belongs to one model",
                )
            owners[product] = name
    return MappingProxyType(devices)


def find_device(name: str) -> Device:
    """Return a device model by its exact name.

    Raises:
        BadRequest: No such model; the error suggests the nearest one.
    """
    devices = load_devices()
    if name not in devices:
        raise BadRequest(
            f"no device model is called {name!r}{nearest(name.lower(), devices)}",
            remedy=f"use one of: {', '.join(devices)}",
        )
    return devices[name]


def device_for_product(product: str) -> Device | None:
    """Return the model of a card from the product name its driver reports, exact but for case."""
    wanted = product.lower()
    return next((each for each in load_devices().values() if wanted in each.match), None)


def read_device(path: Path) -> Device:
    """Read one device file.

    Raises:
        BadSpec: The file is wrong; the error names file, line and field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSpec(f"cannot be read: {error}", file=path) from None
    document = read_yaml(text, str(path))
    entry = _validated(document)
    if entry.name != path.stem:
        message = f"the device is called {entry.name!r}, the file {path.stem!r}"
        raise document.bad(("name",), message, remedy="give both the same name")
    for place, message in contradictions(entry):
        raise document.bad(place, message, remedy="check both numbers against their sources")
    return _frozen(entry)


def _validated(document: Document) -> DeviceEntry:
    try:
        return DeviceEntry.model_validate(document.data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # A misspelt key is unknown and missed as well; its own line is the better place.
        faults.sort(key=lambda fault: fault["type"] != "extra_forbidden")
        raise _refusal(document, faults[0]) from None


def _refusal(document: Document, fault: ErrorDetails) -> BadSpec:
    """Say what is wrong at the place of the first fault."""
    place = tuple(fault["loc"])
    name = place[-1] if place else ""
    match fault["type"]:
        case "extra_forbidden":
            near = nearest(str(name), DeviceEntry.model_fields) if len(place) == 1 else ""
            return document.bad(place, f"unknown key{near}", remedy=_REMEDY)
        case "missing":
            message = f"the key {name!r} is missing"
            return document.bad(place, message, remedy="write it, or null where it is not known")
        case "value_error":
            message = str(fault["msg"]).removeprefix("Value error, ")
        case _:
            message = f"{fault['msg']}; found {fault['input']!r}"
    return document.bad(place, message, remedy="check the value and the unit in the key")


def _frozen(entry: DeviceEntry) -> Device:
    """Take the values out of their facts and note where each came from."""
    values = {name: _plain(getattr(entry, name)) for name in DeviceEntry.model_fields}
    tuples = {"tiles": Tile, "register_modes": RegisterMode, "matrix_shapes": MatrixShape}
    singles = {
        "compile_target": CompileTarget,
        "block_load": BlockLoad,
        "triton": TritonSupport,
    }
    for name, kind in tuples.items():
        values[name] = tuple(kind(**each) for each in values[name] or ())
    for name, kind in singles.items():
        values[name] = None if values[name] is None else kind(**values[name])
    return Device(
        **values,
        sources=dict(_sources(entry)),
    )


def _plain(value: Any) -> Any:
    """Turn facts and entries into plain values."""
    match value:
        case Fact():
            return _plain(value.value)
        case BaseModel():
            return value.model_dump()
        case tuple():
            return tuple(_plain(each) for each in value)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case _:
            return value


def _sources(entry: DeviceEntry) -> Iterator[tuple[str, str]]:
    """Yield field name (and dtype) with strength and source."""
    for name in DeviceEntry.model_fields:
        value = getattr(entry, name)
        facts = value if isinstance(value, dict) else {"": value}
        for key, fact in facts.items():
            if isinstance(fact, Fact):
                yield (f"{name}.{key}" if key else name), f"{fact.strength}: {fact.source}"
