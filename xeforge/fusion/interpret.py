"""What a program means: each statement computed whole, by numpy, one after the other.

Slow and obvious; the oracle for every pass and emitter. A read of an element that is not there, or
was not written yet, is an error here too and never a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xeforge.errors import XeForgeError
from xeforge.fusion.formats import Formats
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt
from xeforge.fusion.meanings import apply

Values = NDArray[Any]
Mask = NDArray[np.bool_]

MAX_POINTS = 2**26
"""Points of one statement; about 1 GB of float64 with indices."""

_FOLDS: Mapping[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


class Undefined(XeForgeError):
    """A program read what is not there, or was given what it does not take."""

    code = "undefined_program"


@dataclass(frozen=True, slots=True)
class _Store:
    """Elements so far, and which of them have been written."""

    values: Values
    written: Mask


def interpret(
    program: Program, given: Mapping[str, Values], *, exact: bool = True
) -> Mapping[str, Values]:
    """Compute all outputs.

    Args:
        program: Well-formed; what is wrong with it may show as `Undefined`.
        given: One array per input and parameter, of the right shape.
        exact: Floats are float64 throughout, whatever dtypes the program names. Else each value
            is rounded to its dtype (bfloat16 arrays hold the rounded numbers as float32).

    Returns:
        The outputs by name.

    Raises:
        Undefined: An element does not exist or was never written, inputs do not fit, or a
            statement has more than `MAX_POINTS` points.
    """
    formats = Formats(is_exact=exact)
    stores: dict[str, _Store] = {}
    for array in program.arrays:
        stores[array.name] = _start(array, given, formats)
    unknown = sorted(set(given) - {each.name for each in program.arrays})
    if unknown:
        raise Undefined(f"given, but no array of the program: {', '.join(unknown)}")
    arrays = program.arrays_by_name()
    for stmt in program.statements:
        _Run(stmt, stores, formats).write(arrays[stmt.output.array])
    for name in program.outputs:
        if not stores[name].written.all():
            raise Undefined(f"{name} is not written whole")
    return {name: stores[name].values for name in program.outputs}


def _start(array: Array, given: Mapping[str, Values], formats: Formats) -> _Store:
    is_given = array.role in {"input", "parameter"}
    if is_given != (array.name in given):
        raise Undefined(f"{array.name}: {'not given' if is_given else 'given, but computed'}")
    if not is_given:
        empty = np.zeros(array.shape, formats.storage(array.dtype))
        return _Store(empty, np.zeros(array.shape, np.bool_))
    values = np.asarray(given[array.name])
    if values.shape != array.shape:
        raise Undefined(f"{array.name}: the shape is {values.shape}, not {array.shape}")
    return _Store(formats.rounded(values, array.dtype), np.ones(array.shape, np.bool_))


class _Run:
    """One statement over its whole domain; arrays of values broadcast along its axes."""

    def __init__(self, stmt: Stmt, stores: Mapping[str, _Store], formats: Formats) -> None:
        self.stmt = stmt
        self.stores = stores
        self.formats = formats
        # Reduced axes come last, so that they can be folded away together.
        self.axes = (
            *stmt.parallel_axes(),
            *(each for each in stmt.axes if each.name in stmt.reduced()),
        )
        self.box = tuple(each.extent for each in self.axes)
        if prod(self.box) > MAX_POINTS:
            raise Undefined(f"{stmt.name}: {prod(self.box)} points are more than {MAX_POINTS}")
        self.mesh = {
            each.name: np.arange(each.extent).reshape(
                [-1 if each is other else 1 for other in self.axes]
            )
            for each in self.axes
        }

    def write(self, array: Array) -> None:
        """Compute the statement and store it."""
        stmt, store = self.stmt, self.stores[array.name]
        inside = self._mask(stmt.constraints)
        values = np.broadcast_to(self._value(stmt.body, inside), self.box)
        count = len(stmt.parallel_axes())
        kept = self._mask(stmt.write_constraints())
        kept = np.broadcast_to(kept, self.box).reshape(*self.box[:count], -1)[..., 0]
        if stmt.reduce is not None:
            values = np.where(inside, values, values.dtype.type(stmt.reduce.identity))
            flat = values.reshape(*self.box[:count], -1)
            with np.errstate(all="ignore"):
                folds = _FOLDS[stmt.reduce.monoid].reduce(flat, axis=-1, dtype=flat.dtype)
            values = np.asarray(self.formats.rounded(folds, stmt.reduce.dtype))
        index = tuple(
            np.broadcast_to(np.asarray(each.evaluate(self.mesh)), self.box).reshape(
                *self.box[:count], -1
            )[..., 0]
            for each in stmt.output.index
        )
        self._check_inside(array.name, index, store.values.shape, kept)
        offset = np.zeros(int(kept.sum()), np.int64)
        for each, size in zip(index, array.shape, strict=True):
            offset = offset * size + each[kept]
        if np.unique(offset).size != offset.size or store.written.ravel()[offset].any():
            raise Undefined(f"{stmt.name}: an element of {array.name} is written twice")
        store.values.ravel()[offset] = self.formats.rounded(values[kept], array.dtype)
        store.written.ravel()[offset] = True

    def _value(self, expr: Expr, where: Mask) -> Values:
        """Return the values; where `where` does not hold they are anything and are not used."""
        if isinstance(expr, Const):
            return self.formats.rounded(np.asarray(expr.value), expr.dtype)
        if isinstance(expr, Read):
            return self._read(expr, where)
        if isinstance(expr, Call):
            args = [self._value(each, where) for each in expr.args]
            if expr.function == "cast":
                return self.formats.rounded(args[0], expr.dtype)
            return self.formats.rounded(apply(expr.function, args), expr.dtype)
        if isinstance(expr, Position):
            place = np.asarray(expr.of.evaluate(self.mesh))
            return self.formats.rounded(place, expr.dtype)
        holds = self._mask(expr.guard)
        then = self._value(expr.then, where & holds)
        return np.where(holds, then, self._value(expr.otherwise, where & ~holds))

    def _read(self, expr: Read, where: Mask) -> Values:
        access, store = expr.access, self.stores[expr.access.array]
        holds = self._mask(access.guard)
        active = where & holds
        index = tuple(np.asarray(each.evaluate(self.mesh)) for each in access.index)
        self._check_inside(access.array, index, store.values.shape, active)
        index = tuple(np.where(active, each, 0) for each in index)
        if not (store.written[index] | ~active).all():
            raise Undefined(f"{self.stmt.name}: reads {access.array} before it is written")
        padding = self.formats.rounded(np.asarray(access.otherwise), expr.dtype)
        return (
            np.where(holds, store.values[index], padding) if access.guard else store.values[index]
        )

    def _check_inside(
        self, name: str, index: tuple[Values, ...], shape: tuple[int, ...], where: Mask
    ) -> None:
        # numpy takes negative indices from the end: nothing may be left to its checks.
        for each, size in zip(index, shape, strict=True):
            if (where & ((each < 0) | (each >= size))).any():
                raise Undefined(f"{self.stmt.name}: an access of {name} leaves the array")

    def _mask(self, conditions: tuple[Any, ...]) -> Mask:
        holds: Mask = np.ones([1] * len(self.box), np.bool_)
        for each in conditions:
            holds = holds & np.asarray(each.evaluate(self.mesh))
        return holds
