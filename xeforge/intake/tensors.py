"""Declared inputs of a spec, resolved for one entry."""

import math
from collections.abc import Mapping
from typing import Any
from typing import Final

from xeforge.domain.dtype import DTYPES
from xeforge.domain.dtype import DType
from xeforge.domain.dtype import find_dtype
from xeforge.domain.problem import Argument
from xeforge.domain.problem import TensorSpec
from xeforge.intake.arguments import EntryDims
from xeforge.intake.arguments import coerced
from xeforge.intake.marks import Document
from xeforge.intake.marks import Path
from xeforge.intake.marks import dotted
from xeforge.intake.marks import nearest
from xeforge.intake.schema import InputEntry

INHERIT: Final = "inherit"
TRANSFORMS: Final = (
    "scale",
    "softmax",
    "abs",
    "normalize",
    "symmetric",
    "triu",
    "tril",
    "transpose",
    "uniform",
    "rademacher",
)
_MATRIX_ONLY: Final = frozenset({"symmetric", "triu", "tril", "transpose"})
_ROWS_ONLY: Final = frozenset({"softmax", "normalize"})


def read_dtype(document: Document, path: Path, name: str) -> DType:
    """Return a number format by name.

    Raises:
        BadSpec: There is none of that name.
    """
    found = find_dtype(name)
    if found is None:
        raise document.bad(
            path,
            f"unknown dtype {name!r}{nearest(name, DTYPES)}",
            remedy=f"one of {', '.join(DTYPES)}",
        )
    return found


def input_dtypes(
    document: Document,
    inputs: Mapping[str, InputEntry],
    params: list[str],
    entry_dtype: DType | None,
    entry_path: Path,
) -> tuple[dict[str, DType], str | None]:
    """Return the format of each input of an entry, and what had to be decided.

    A declared dtype is honoured. One exception keeps Xe-Forge's specs working: where all floating
    inputs declare one and the same dtype, the dtype of the entry replaces it.

    Raises:
        BadSpec: An unknown dtype, or ``inherit`` without a dtype of the entry.
    """
    declared: dict[str, DType | None] = {}
    inherits = False
    for name in params:
        path = ("inputs", name, "dtype")
        given = inputs[name].dtype
        if given == INHERIT and entry_dtype is None:
            raise document.bad(
                entry_path,
                f"input {name!r} inherits its dtype, but the entry has none",
                remedy="add dtype: to the entry, or to the input",
            )
        inherits = inherits or given == INHERIT
        declared[name] = (
            None if given in {None, INHERIT} else read_dtype(document, path, str(given))
        )
    floats = {each.name for each in declared.values() if each is not None and each.kind == "float"}
    note = None
    if entry_dtype is not None and len(floats) == 1 and not inherits:
        replaced = [n for n, d in declared.items() if d and d.kind == "float" and d != entry_dtype]
        if replaced and entry_dtype.kind == "float":
            note = f"dtype {entry_dtype.name} replaces {floats.pop()} declared for " + ", ".join(
                replaced
            )
            declared |= dict.fromkeys(replaced)
    default = entry_dtype or DTYPES["float32"]
    return {name: found or default for name, found in declared.items()}, note


def read_tensor(
    document: Document, name: str, entry: InputEntry, dtype: DType, dims: EntryDims
) -> TensorSpec:
    """Resolve one input for one entry.

    Raises:
        BadSpec: An undeclared dimension, a size that is no positive integer, a range or a
            transform that does not fit.
    """
    path: Path = ("inputs", name)
    sizes = [
        _size(document, (*path, "shape", index), each, dims)
        for index, each in enumerate(entry.shape)
    ]
    shape = tuple(size for size, _ in sizes)
    _check_transforms(document, (*path, "inits"), entry.inits, shape)
    return TensorSpec(
        name=name,
        shape=shape,
        dtype=dtype.name,
        range=_range(document, (*path, "range"), entry.bounds, dtype, dims),
        transforms=tuple(entry.inits),
        dims=tuple(dim for _, dim in sizes),
        range_dims=_bound_names(entry.bounds, dims),
    )


def _named(document: Document, path: Path, name: str, dims: EntryDims) -> Argument:
    if name not in dims.values:
        known = ", ".join(dims.values) or "none"
        raise document.bad(
            dims.path,
            f"dimension {name!r} of {dotted(path)} is not declared{nearest(name, dims.values)}",
            remedy=f"add it to dims (declared: {known})",
        )
    return dims.values[name]


def _size(document: Document, path: Path, given: Any, dims: EntryDims) -> tuple[int, str]:
    written = document.texts.get(path, "")
    is_literal = isinstance(given, int) and not isinstance(given, bool)
    dim = "" if is_literal else written
    if not is_literal and not written:
        raise document.bad(path, "a shape lists dimensions", remedy="write shape: [M, N]")
    value = given if is_literal else _named(document, path, dim, dims)
    place = path if is_literal else (*dims.path, dim)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise document.bad(
            place, f"{value!r} is used as a size but is no integer", remedy="give a whole number"
        )
    if value < 1:
        raise document.bad(place, f"the size {value} is not positive", remedy="give at least 1")
    return value, dim


def _range(
    document: Document, path: Path, bounds: list[Any] | None, dtype: DType, dims: EntryDims
) -> tuple[float, float] | None:
    if bounds is None:
        return None
    if len(bounds) != 2:  # noqa: PLR2004
        raise document.bad(path, "a range has two bounds", remedy="write range: [low, high]")
    low, high = (_bound(document, (*path, i), each, dims) for i, each in enumerate(bounds))
    if dtype.kind == "float":
        if low > high:
            raise document.bad(
                path, f"the range [{low}, {high}] is empty", remedy="swap the bounds"
            )
        return low, high
    if not (low.is_integer() and high.is_integer()) or low >= high:
        raise document.bad(
            path,
            f"[{low:g}, {high:g}) holds no integer or has fractional bounds",
            remedy="integers are drawn from low (included) to high (excluded)",
        )
    bits = 1 if dtype.kind == "bool" else 8 * dtype.size_bytes
    is_unsigned = dtype.kind == "bool" or dtype.name.startswith("u")
    least, most = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if low < least or high - 1 > most:
        raise document.bad(
            path,
            f"[{low:g}, {high:g}) does not fit {dtype.name}, which holds {least} to {most}",
            remedy="narrow the range or widen the dtype",
        )
    return low, high


def _bound_names(bounds: list[Any] | None, dims: EntryDims) -> tuple[str, str]:
    """Return the dimension behind each bound; empty where it is a number."""
    names = [str(each) if str(each) in dims.values else "" for each in bounds or ()]
    return (names[0], names[1]) if len(names) == 2 else ("", "")  # noqa: PLR2004


def _bound(document: Document, path: Path, given: Any, dims: EntryDims) -> float:
    value = coerced(given)
    if isinstance(value, str):
        value = _named(document, path, value, dims)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise document.bad(
            path, f"{value!r} is no bound", remedy="give a number or the name of a dimension"
        )
    return float(value)


def _check_transforms(
    document: Document, path: Path, names: list[str], shape: tuple[int, ...]
) -> None:
    for index, name in enumerate(names):
        place = (*path, index)
        if name not in TRANSFORMS:
            raise document.bad(
                place,
                f"unknown transform {name!r}{nearest(name, TRANSFORMS)}",
                remedy=f"one of {', '.join(TRANSFORMS)}",
            )
        if name in _MATRIX_ONLY and len(shape) != 2:  # noqa: PLR2004
            raise document.bad(
                place, f"{name} needs a matrix, not {len(shape)} dimensions", remedy="remove it"
            )
        if name == "symmetric" and len(set(shape)) > 1:
            raise document.bad(
                place, f"symmetric needs a square matrix, not {shape}", remedy="remove it"
            )
        if name in _ROWS_ONLY and not shape:
            raise document.bad(place, f"{name} needs at least one dimension", remedy="remove it")
