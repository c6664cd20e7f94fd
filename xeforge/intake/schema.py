"""The layout of a spec: which keys there are and of which type; pydantic checks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import Final
from typing import TypeVar

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field
from pydantic import ValidationError

from xeforge.intake.marks import Document
from xeforge.intake.marks import Path
from xeforge.intake.marks import nearest

INFORMATIONAL: Final = ("name", "description", "lowering")
"""Top-level keys that other tools write for themselves and that change nothing here."""


class InputEntry(BaseModel):
    """One declared input tensor."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    shape: list[Any]
    dtype: str | None = None
    bounds: list[Any] | None = Field(default=None, alias="range")
    inits: list[str] = []


class VariantEntry(BaseModel):
    """One entry of a variant."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    params: list[str] | None = None
    dims: Any = {}
    dtype: str | None = None
    flop: Any = None
    mem_bytes: Any = None
    moved: Any = Field(default=None, alias="bytes")
    rtol: Any = None
    atol: Any = None
    memory_format: str | None = None
    weight: Any = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A spec whose keys and types are right; nothing is resolved yet.

    Attributes:
        document: Source of lines.
        inputs: Declared inputs; None when the spec leaves them to the file's ``get_inputs``.
        inits: Label and raw value of each constructor argument; None: not given.
        default_variant: As written.
        variants: Entries by variant name, in order of appearance, with their path.
        notes: What was passed over.
    """

    document: Document
    inputs: Mapping[str, InputEntry] | None
    inits: tuple[tuple[str, Any], ...] | None
    default_variant: str | None
    variants: Mapping[str, tuple[tuple[Path, VariantEntry], ...]]
    notes: tuple[str, ...]


def read_layout(document: Document) -> Layout:
    """Check keys and types of a spec.

    Raises:
        BadSpec: An unknown key, a missing one, or a value of the wrong type.
    """
    if not isinstance(document.data, dict):
        raise document.bad((), "a spec is a mapping", remedy="start with inputs: and a variant")
    notes: list[str] = []
    variants: dict[str, tuple[tuple[Path, VariantEntry], ...]] = {}
    for key, value in document.data.items():
        if key in {"inputs", "inits", "default_variant"}:
            continue
        if isinstance(value, list):
            variants[key] = _entries(document, key, value)
        elif key in INFORMATIONAL:
            notes.append(f"spec key {key!r} is informational and changes nothing")
        else:
            known = ("inputs", "inits", "default_variant", *INFORMATIONAL, "bench-gpu", "ci")
            raise document.bad(
                (key,),
                f"unknown key {key!r}{nearest(key, known)}",
                remedy="a variant is a list of entries: start each one with '- params: [...]'",
            )
    if not variants:
        raise document.bad(
            (), "the spec has no variant", remedy="add one, e.g. bench-gpu: with a list of entries"
        )
    return Layout(
        document=document,
        inputs=_inputs(document),
        inits=_inits(document),
        default_variant=_default_variant(document),
        variants=variants,
        notes=tuple(notes),
    )


def _entries(
    document: Document, variant: str, entries: list[Any]
) -> tuple[tuple[Path, VariantEntry], ...]:
    if not entries:
        raise document.bad((variant,), "the variant has no entry", remedy="add one or remove it")
    return tuple(
        ((variant, index), _checked(document, (variant, index), VariantEntry, each))
        for index, each in enumerate(entries)
    )


def _inputs(document: Document) -> dict[str, InputEntry] | None:
    if "inputs" not in document.data:
        return None
    given = document.data["inputs"]
    if not isinstance(given, dict) or not given:
        raise document.bad(
            ("inputs",), "inputs is a mapping of names", remedy="write NAME: {shape: [DIM, ...]}"
        )
    return {
        name: _checked(document, ("inputs", name), InputEntry, each) for name, each in given.items()
    }


def _inits(document: Document) -> tuple[tuple[str, Any], ...] | None:
    if document.data.get("inits") is None:
        return None
    given = document.data["inits"]
    if not isinstance(given, list):
        raise document.bad(("inits",), "inits is a list", remedy="write '- dim: NAME' lines")
    found: list[tuple[str, Any]] = []
    for index, each in enumerate(given):
        if not isinstance(each, dict) or len(each) != 1:
            raise document.bad(
                ("inits", index),
                "an entry of inits is a mapping with one key",
                remedy="write '- dim: NAME' or '- label: VALUE'",
            )
        found += each.items()
    return tuple(found)


def _default_variant(document: Document) -> str | None:
    given = document.data.get("default_variant")
    if given is not None and not isinstance(given, str):
        raise document.bad(
            ("default_variant",), "default_variant is a name", remedy="give a variant's name"
        )
    return given


Model = TypeVar("Model", bound=BaseModel)


def _checked(document: Document, path: Path, model: type[Model], data: Any) -> Model:
    if not isinstance(data, dict):
        raise document.bad(path, "a mapping is expected", remedy=f"give {_keys(model)}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = (*path, *first["loc"])
        if first["type"] == "extra_forbidden":
            name = str(first["loc"][-1])
            message = f"unknown key {name!r}{nearest(name, _keys(model).split(', '))}"
            raise document.bad(place, message, remedy=f"known keys: {_keys(model)}") from error
        if first["type"] == "missing":
            raise document.bad(
                path, f"the key {first['loc'][-1]!r} is missing", remedy="add it"
            ) from error
        raise document.bad(
            place, f"{first['msg']}; found {first['input']!r}", remedy="see the format description"
        ) from error


def _keys(model: type[BaseModel]) -> str:
    return ", ".join(field.alias or name for name, field in model.model_fields.items())
