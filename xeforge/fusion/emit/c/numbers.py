"""Number formats in C: how they are stored, computed with, rounded and written down."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from xeforge.errors import BadRequest
from xeforge.fusion.formats import Formats

_ROUNDED = Formats(is_exact=False)


@dataclass(frozen=True, slots=True)
class Number:
    """One format.

    Attributes:
        stored: C type of an element in memory.
        value: C type that expressions use; halves are floats that have been rounded.
        suffix: Ends the names of functions on `value`.
        size_bytes: Of an element.
    """

    stored: str
    value: str
    suffix: str
    size_bytes: int


NUMBERS: Mapping[str, Number] = {
    "float64": Number("double", "double", "f64", 8),
    "float32": Number("float", "float", "f32", 4),
    "float16": Number("_Float16", "float", "f32", 2),
    "bfloat16": Number("uint16_t", "float", "f32", 2),
    "int64": Number("int64_t", "int64_t", "i64", 8),
    "int32": Number("int32_t", "int32_t", "i32", 4),
    "int16": Number("int16_t", "int32_t", "i32", 2),
    "int8": Number("int8_t", "int32_t", "i32", 1),
    "uint8": Number("uint8_t", "int32_t", "i32", 1),
    "bool": Number("uint8_t", "int32_t", "i32", 1),
}
_ROUNDING = {"float16": "xf_round_f16", "bfloat16": "xf_round_bf16"}
_NARROW = {"int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t"}


def number(dtype: str) -> Number:
    """Look up a format.

    Raises:
        BadRequest: C has no such format here (8-bit floats).
    """
    found = NUMBERS.get(dtype)
    if found is None:
        raise BadRequest(
            f"{dtype} is not emitted as C", field="dtype", remedy="use float16 or wider"
        )
    return found


def loaded(dtype: str, element: str) -> str:
    """Return the value of an element in memory."""
    if dtype == "bfloat16":
        return f"xf_from_bf16({element})"
    if dtype == "float16":
        return f"(float){element}"
    return f"({element} != 0)" if dtype == "bool" else element


def to_store(dtype: str, value: str) -> str:
    """Return what is written to memory for a value of this dtype."""
    if dtype == "bfloat16":
        return f"xf_to_bf16({value})"
    return f"(_Float16)({value})" if dtype == "float16" else value


def rounded(dtype: str, value: str) -> str:
    """Round a value that was computed wider than its dtype."""
    if dtype in _ROUNDING:
        return f"{_ROUNDING[dtype]}({value})"
    if dtype in _NARROW:
        return f"(int32_t)({_NARROW[dtype]})({value})"
    return value


def converted(value: str, source: str, target: str) -> str:
    """Convert a value from one dtype to another one."""
    if target == "bool":
        return f"({value} != 0)"
    if number(source).value != number(target).value:
        value = f"({number(target).value})({value})"
    is_exact = source == target or (target == "float16" and source == "bool")
    return value if is_exact else rounded(target, value)


def literal(value: float, dtype: str) -> str:
    """Write a number down, rounded to the dtype."""
    if dtype == "bool":
        return "1" if value else "0"
    kept = _ROUNDED.rounded(np.asarray(value), dtype)
    if kept.dtype.kind in "iu":
        text = f"INT64_C({int(kept)})" if dtype == "int64" else str(int(kept))
    elif not np.isfinite(kept):
        text = "NAN" if np.isnan(kept) else ("-INFINITY" if kept < 0 else "INFINITY")
    elif number(dtype).value == "double":
        text = repr(float(kept))
    else:
        text = f"{np.float32(kept)!s}f"
    # In brackets, because a sign before a sign is another operator.
    return f"({text})" if text.startswith("-") else text
