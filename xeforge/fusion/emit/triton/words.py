"""Triton's words for dtypes, numbers and neutral elements."""

import math

from xeforge.domain.dtype import DTYPES
from xeforge.errors import UserError
from xeforge.fusion.ir import Monoid

HALVES = frozenset({"float16", "bfloat16"})

_NAMES = {
    **{name: name for name in ("float64", "float32", "float16", "bfloat16")},
    **{name: name for name in ("int64", "int32", "int16", "int8", "uint8")},
    "bool": "int1",
}
_MOST_32 = 2**31 - 1
_INT_RANGES = {"uint8": (0, 255), "bool": (0, 1)}


class CannotEmit(UserError):
    """A plan has no Triton form here; the message names the statement and says why."""

    code = "cannot_emit"


def language_dtype(dtype: str) -> str:
    """Return what Triton calls a Torch dtype, e.g. ``tl.float16``."""
    if dtype not in _NAMES:
        raise CannotEmit(f"{dtype} is not emitted")
    return f"tl.{_NAMES[dtype]}"


def literal(value: float, dtype: str) -> str:
    """Return a number as Python text, fit for a dtype."""
    kind = DTYPES[dtype].kind
    if kind == "bool":
        return str(bool(value))
    if kind == "int":
        return str(int(value))
    if math.isnan(value) or math.isinf(value):
        return f'float("{value}")'
    return repr(float(value))


def identity(monoid: Monoid, dtype: str) -> str:
    """Return the value of an empty fold; the ends of the range stand for infinities of integers."""
    if monoid in {"sum", "prod"}:
        return literal(float(monoid == "prod"), dtype)
    if DTYPES[dtype].kind == "float":
        return literal(-math.inf if monoid == "max" else math.inf, dtype)
    bits = 8 * DTYPES[dtype].size_bytes
    low, high = _INT_RANGES.get(dtype, (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    return str(low if monoid == "max" else high)


def needs_64_bits(*counts: int) -> bool:
    """Say whether offsets up to one of these counts leave the range of 32-bit integers."""
    return any(count > _MOST_32 for count in counts)


def power_of_two(least: int) -> int:
    """Return the smallest power of two that is not below `least`, a positive number."""
    return 1 << (least - 1).bit_length()
