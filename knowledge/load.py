"""Reads device files, refuses what is wrong in them with its place, and freezes the rest."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from knowledge.model import DeviceEntry
from knowledge.model import Fact
from knowledge.model import contradictions
from knowledge.packs import load_rulings
from knowledge.possible import can_hold
from knowledge.recipes import Ruling
from knowledge.refusals import read_document
from knowledge.refusals import validated
from xeforge.domain.device import BlockLoad
from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.device import MatrixShape
from xeforge.domain.device import RegisterMode
from xeforge.domain.device import Tile
from xeforge.domain.device import TritonSupport
from xeforge.errors import BadRequest
from xeforge.errors import BadSpec
from xeforge.intake.marks import nearest
from xeforge.verify.gates.constraints import predicates_of

DEVICES = Path(__file__).parent / "devices"


@cache
def load_devices(folder: Path = DEVICES) -> Mapping[str, Device]:
    """Return all device models by name, in alphabetical order, with the rules of our packs.

    Read once per process.

    Raises:
        BadSpec: A file is wrong; the error names file, line and field.
    """
    rulings = load_rulings()
    return MappingProxyType(
        {name: with_rules(device, rulings) for name, device in read_devices(folder).items()}
    )


def with_rules(device: Device, rulings: Iterable[Ruling]) -> Device:
    """Return a device with those constraints that can apply to it."""
    rules = (each.rule for each in rulings)
    fitting = tuple(
        rule for rule in rules if can_hold([predicates_of(rule)[0]], rule.scope, device)
    )
    return replace(device, constraints=fitting)


@cache
def read_devices(folder: Path = DEVICES) -> Mapping[str, Device]:
    """Return all device models by name, in alphabetical order, without any rules.

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
    document = read_document(path)
    entry = validated(DeviceEntry, document)
    if entry.name != path.stem:
        message = f"the device is called {entry.name!r}, the file {path.stem!r}"
        raise document.bad(("name",), message, remedy="give both the same name")
    for place, message in contradictions(entry):
        raise document.bad(place, message, remedy="check both numbers against their sources")
    return _frozen(entry)


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
