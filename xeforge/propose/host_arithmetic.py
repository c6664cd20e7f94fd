"""Arithmetic on host values that are known; everything else stays unknown."""

import math
import operator
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import libcst as cst

from xeforge.domain.dtype import find_dtype
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_tensors import Value

_LONGEST_RANGE = 64

OPERATORS: tuple[tuple[type[cst.BaseBinaryOp], Callable[..., Any]], ...] = (
    (cst.Add, operator.add),
    (cst.Subtract, operator.sub),
    (cst.Multiply, operator.mul),
    (cst.FloorDivide, operator.floordiv),
    (cst.Divide, operator.truediv),
    (cst.Modulo, operator.mod),
    (cst.Power, operator.pow),
)
COMPARISONS: tuple[tuple[type[cst.BaseCompOp], Callable[..., Any]], ...] = (
    (cst.Equal, operator.eq),
    (cst.NotEqual, operator.ne),
    (cst.LessThan, operator.lt),
    (cst.LessThanEqual, operator.le),
    (cst.GreaterThan, operator.gt),
    (cst.GreaterThanEqual, operator.ge),
)


def _ceiling(above: int, below: int) -> int:
    return -(-above // below)


def _power_at_least(value: int) -> int:
    return 1 << max(0, value - 1).bit_length()


def _range(*limits: int) -> tuple[int, ...] | None:
    numbers = range(*limits)
    return tuple(numbers) if len(numbers) <= _LONGEST_RANGE else None


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "triton.cdiv": _ceiling,
    "triton.next_power_of_2": _power_at_least,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.sqrt": math.sqrt,
    "math.prod": math.prod,
    "min": min,
    "max": max,
    "int": int,
    "bool": bool,
    "float": float,
    "len": len,
    "tuple": tuple,
    "list": tuple,
    "range": _range,
}
"""Functions that are safe to evaluate here."""


def operated(function: Callable[..., Any], *given: Value) -> Value:
    """Apply a function to known values; None when it does not work on them."""
    if any(each is None or isinstance(each, HostTensor) for each in given):
        return None
    try:
        found = function(*given)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return found if isinstance(found, bool | int | float | str | tuple) else None


def is_dtype(value: Value) -> bool:
    """Say whether a value names a number format."""
    return isinstance(value, str) and find_dtype(value) is not None


def sizes(given: list[Value]) -> Value:
    """Return the shape that positional sizes of an allocation mean."""
    return given[0] if len(given) == 1 else tuple(given)
