"""Values of dimensions and constructor arguments."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import Final

from xeforge.domain.problem import Argument
from xeforge.intake.marks import Document
from xeforge.intake.marks import Path
from xeforge.intake.marks import dotted
from xeforge.intake.marks import nearest


@dataclass(frozen=True, slots=True)
class EntryDims:
    """Dimensions of one entry and where they stand."""

    values: Mapping[str, Argument]
    path: Path


_NUMBER: Final = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?")


def coerced(value: Any) -> Any:
    """Return the number a text spells, or the value itself.

    YAML 1.1 takes ``1e-5`` (no dot) for text; formulas and tolerances need the number.
    """
    if not isinstance(value, str) or _NUMBER.fullmatch(value.strip()) is None:
        return value
    plain = value.strip().replace("_", "")
    return int(plain) if re.fullmatch(r"[-+]?\d+", plain) else float(plain)


def read_dims(document: Document, path: Path, given: Any) -> dict[str, Argument]:
    """Return the dimensions of one entry; lists become tuples.

    Raises:
        BadSpec: No mapping, or a value that is neither number, text, truth value nor list.
    """
    if not isinstance(given, dict):
        raise document.bad(path, "dims is a mapping of names", remedy="write dims: {M: 128}")
    return {name: argument(document, (*path, name), value) for name, value in given.items()}


def argument(document: Document, path: Path, value: Any) -> Argument:
    """Return a value as a constructor argument.

    Raises:
        BadSpec: A mapping or nothing at all.
    """
    if isinstance(value, list):
        return tuple(argument(document, (*path, i), each) for i, each in enumerate(value))
    value = coerced(value)
    if not isinstance(value, bool | int | float | str):
        raise document.bad(
            path,
            "a number, text, truth value or list is expected",
            remedy="give the value that the constructor or the shape needs",
        )
    return value


def init_arguments(
    document: Document, inits: tuple[tuple[str, Any], ...], dims: EntryDims
) -> tuple[tuple[Argument, ...], tuple[str, ...]]:
    """Return the constructor arguments of one entry and the dimension behind each.

    A value that names a dimension stands for it; anything else stands for itself.

    Raises:
        BadSpec: ``- dim: NAME`` with a name that the entry's dims do not have, or a text that is
            nearly the name of a dimension.
    """
    found = [
        _init_argument(document, ("inits", index, label), value, dims)
        for index, (label, value) in enumerate(inits)
    ]
    return tuple(value for value, _ in found), tuple(name for _, name in found)


def _init_argument(
    document: Document, path: Path, value: Any, dims: EntryDims
) -> tuple[Argument, str]:
    # As written, because YAML 1.1 reads a dimension named NO as a truth value.
    written = document.texts.get(path)
    if written is not None and written in dims.values:
        return dims.values[written], written
    if isinstance(value, list):
        inner = [
            _init_argument(document, (*path, i), each, dims)[0] for i, each in enumerate(value)
        ]
        return tuple(inner), ""
    read = argument(document, path, value)
    hint = nearest(read, dims.values) if isinstance(read, str) else ""
    if isinstance(read, str) and (path[-1] == "dim" or (hint and read.isupper())):
        known = ", ".join(dims.values) or "none"
        raise document.bad(
            path,
            f"dimension {read!r} is not declared in {dotted(dims.path)}{hint}",
            remedy=f"add it to the dims of every entry (declared there: {known})",
        )
    return read, ""
