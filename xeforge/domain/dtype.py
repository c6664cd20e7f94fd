"""Names, sizes and rounding of the number formats that kernels use."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["float", "int", "bool"]


@dataclass(frozen=True, slots=True)
class DType:
    """One number format.

    Attributes:
        name: Torch's attribute name, e.g. ``"bfloat16"``.
        size_bytes: Storage of one element.
        kind: Float, integer or boolean.
        eps: Distance from 1.0 to the next number (IEEE 754; OCP FP8 for 8-bit floats); 0 for
            integers.
    """

    name: str
    size_bytes: int
    kind: Kind
    eps: float


_ALL = (
    DType("float64", 8, "float", 2.0**-52),
    DType("float32", 4, "float", 2.0**-23),
    DType("float16", 2, "float", 2.0**-10),
    DType("bfloat16", 2, "float", 2.0**-7),
    DType("float8_e4m3fn", 1, "float", 2.0**-3),
    DType("float8_e5m2", 1, "float", 2.0**-2),
    DType("int64", 8, "int", 0.0),
    DType("int32", 4, "int", 0.0),
    DType("int16", 2, "int", 0.0),
    DType("int8", 1, "int", 0.0),
    DType("uint8", 1, "int", 0.0),
    DType("bool", 1, "bool", 0.0),
)
_ALIASES = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
DTYPES = {each.name: each for each in _ALL}


def find_dtype(name: str) -> DType | None:
    """Return the format with this torch name or alias (``"half"``), or nothing."""
    plain = name.removeprefix("torch.")
    return DTYPES.get(_ALIASES.get(plain, plain))
