"""Calls compiled plans with numpy arrays."""

import ctypes
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xeforge.errors import BadRequest
from xeforge.errors import OutOfHostResources
from xeforge.fusion.emit.c.source import CSource
from xeforge.fusion.ir import Array

Values = NDArray[Any]


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return the dtype that arrays in calls must have; bfloat16 travels as its bits (uint16)."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


class Compiled:
    """One plan in a library; may be called from several threads at once."""

    def __init__(self, library: Path, source: CSource) -> None:
        self.source = source
        self._entry = getattr(ctypes.CDLL(str(library)), source.entry)
        self._entry.restype = ctypes.c_int
        self._entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def __call__(self, given: Mapping[str, Values]) -> Mapping[str, Values]:
        """Compute all outputs into new arrays.

        Raises:
            BadRequest: An array is missing or has another shape, dtype or layout.
            OutOfHostResources: There is no memory for intermediates.
        """
        taken = [_checked(each, given) for each in self.source.given]
        results = {
            each.name: np.empty(each.shape, numpy_dtype(each.dtype)) for each in self.source.results
        }
        if self._entry(_pointers(taken), _pointers(tuple(results.values()))):
            raise OutOfHostResources("no memory for the intermediates of the plan")
        return results


def load(library: Path, source: CSource) -> Compiled:
    """Open a library that was built of this source."""
    return Compiled(library, source)


def _checked(array: Array, given: Mapping[str, Values]) -> Values:
    values = given.get(array.name)
    if not isinstance(values, np.ndarray):
        raise BadRequest("no numpy array is given", field=array.name)
    wanted = numpy_dtype(array.dtype)
    if values.shape != array.shape or values.dtype != wanted:
        raise BadRequest(
            f"{values.dtype}{list(values.shape)} is not {wanted}{list(array.shape)}",
            field=array.name,
        )
    if not values.flags.c_contiguous or not values.flags.aligned:
        raise BadRequest(
            "the elements do not lie one after the other",
            field=array.name,
            remedy="pass numpy.ascontiguousarray of it",
        )
    return values


def _pointers(arrays: Sequence[Values]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(each.ctypes.data for each in arrays))
