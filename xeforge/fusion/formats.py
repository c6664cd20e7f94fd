"""Number formats of programs as numpy has them, bfloat16 included."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xeforge.domain.dtype import DTYPES
from xeforge.errors import BadRequest

Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Formats:
    """Rounds values to the formats of a program.

    Attributes:
        is_exact: Floats of every format are float64, and are not rounded.
    """

    is_exact: bool

    def storage(self, dtype: str) -> np.dtype[Any]:
        """Return the numpy dtype that holds values of a Torch dtype.

        Raises:
            BadRequest: numpy has no such format and none stands in for it (8-bit floats).
        """
        if DTYPES[dtype].kind == "float" and self.is_exact:
            return np.dtype(np.float64)
        if dtype == "bfloat16":
            return np.dtype(np.float32)
        if DTYPES[dtype].size_bytes == 1 and DTYPES[dtype].kind == "float":
            raise BadRequest(f"{dtype} is not interpreted")
        return np.dtype(dtype)

    def rounded(self, values: Values, dtype: str) -> Values:
        """Return the values in a dtype, rounded to nearest even; overflow gives infinities."""
        with np.errstate(all="ignore"):
            stored = np.asarray(values).astype(self.storage(dtype))
        if dtype == "bfloat16" and not self.is_exact:
            return _to_bfloat16(stored)
        return stored


def _to_bfloat16(values: Values) -> Values:
    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    odd = (bits >> np.uint64(16)) & np.uint64(1)
    up = ((bits + np.uint64(0x7FFF) + odd) & np.uint64(0xFFFF0000)).astype(np.uint32)
    kept = up.view(np.float32).reshape(np.shape(values))
    return np.where(np.isnan(values), values, kept)
