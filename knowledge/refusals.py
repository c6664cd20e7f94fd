"""Turns what a model finds wrong in a YAML file into errors with file, line, field and remedy."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from xeforge.errors import BadSpec
from xeforge.intake.marks import Document
from xeforge.intake.marks import nearest
from xeforge.intake.marks import read_yaml

Model = TypeVar("Model", bound=BaseModel)
_REMEDY = "see knowledge/README.md and the other files of this folder"


def read_document(path: Path) -> Document:
    """Read a YAML file with its lines.

    Raises:
        BadSpec: It cannot be read, is no YAML, or is too large.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot be read: {error}"
        remedy = "check the path, and save the file as UTF-8"
        raise BadSpec(message, file=path, remedy=remedy) from None
    return read_yaml(text, str(path))


def validated(model: type[Model], document: Document) -> Model:
    """Return a document as a model.

    Raises:
        BadSpec: It is none; says the first fault, misspelt keys before all others.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # A misspelt key is unknown and missed as well; its own line is the better place.
        faults.sort(key=lambda fault: fault["type"] != "extra_forbidden")
        raise _refusal(model, document, faults[0]) from None


def _refusal(model: type[BaseModel], document: Document, fault: ErrorDetails) -> BadSpec:
    """Say what is wrong at the place of a fault."""
    place = _place(document, tuple(fault["loc"]))
    name = place[-1] if place else ""
    match fault["type"]:
        case "extra_forbidden":
            known = {key for each in _models(model) for key in each.model_fields}
            message = f"unknown key{nearest(str(name), _siblings(model, place) or known)}"
            return document.bad(place, message, remedy=_REMEDY)
        case "missing":
            message = f"the key {name!r} is missing"
            return document.bad(place, message, remedy="write it, or null where it is not known")
        case "value_error":
            message = str(fault["msg"]).removeprefix("Value error, ")
        case "literal_error":
            choices = [each.strip().strip("'") for each in _choices(fault)]
            message = f"{fault['msg']}; found {fault['input']!r}"
            message += nearest(str(fault["input"]), choices)
        case _:
            message = f"{fault['msg']}; found {str(fault['input'])[:60]!r}"
            if not isinstance(fault["input"], str):
                message = f"{fault['msg']}; found {fault['input']!r}"[:300]
    return document.bad(place, message, remedy="check the value and the unit in the key")


def _choices(fault: ErrorDetails) -> list[str]:
    expected = str(fault.get("ctx", {}).get("expected", ""))
    return expected.replace(" or ", ", ").split(",")


def _place(document: Document, loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Leave out what the model adds to a path: names of union members and the like."""
    found: tuple[str | int, ...] = ()
    for part in loc:
        longer = (*found, part)
        is_last = part == loc[-1]
        if longer in document.lines or is_last or not isinstance(part, str):
            found = longer
    return found


def _siblings(model: type[BaseModel], place: tuple[str | int, ...]) -> set[str]:
    """Return the keys that are known beside an unknown one, as far as the path tells."""
    current: type[BaseModel] | None = model
    for part in place[:-1]:
        if current is None or isinstance(part, int):
            continue
        info = current.model_fields.get(part)
        inner = [] if info is None else list(_models_in(info.annotation))
        current = inner[0] if inner else (None if info is not None else current)
    return set(current.model_fields) if current is not None else set()


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for info in model.model_fields.values():
        for each in _models_in(info.annotation):
            yield from _models(each)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models inside ``tuple[X, ...]``, ``X | None`` and the like."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for each in getattr(annotation, "__args__", ()):
        yield from _models_in(each)
