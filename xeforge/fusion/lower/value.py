"""What a name of the graph stands for while it is lowered: an array, seen in a shape."""

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import TypeAlias

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import number
from xeforge.fusion.functions import cast
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Read

At: TypeAlias = tuple[Affine, ...]
"""A position: one expression per dimension."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the graph. Views have the array of what they view, and no statement.

    Attributes:
        shape: As the graph sees it.
        dtype: Torch name.
        array: Where the elements are; empty for a constant.
        index: Index into the array, in the placeholders ``d0``, ``d1``, ...: a position here.
        constant: Of a scalar that is a literal.
    """

    shape: tuple[int, ...]
    dtype: str
    array: str
    index: tuple[Affine, ...]
    constant: float | None = None

    def at(self, at: At, guard: tuple[Condition, ...] = (), otherwise: float = 0.0) -> Expr:
        """Read one element, or the padding where the guard does not hold."""
        if self.constant is not None:
            return Const(self.constant, self.dtype)
        index = tuple(each.substitute(_placed(at)) for each in self.index)
        return Read(Access(self.array, index, guard, otherwise), self.dtype)

    def broadcast(self, at: At) -> Expr:
        """Read the element that stands at a position of a shape which this one broadcasts to."""
        own = at[len(at) - len(self.shape) :]
        return self.at(
            tuple(
                number(0) if size == 1 else each for each, size in zip(own, self.shape, strict=True)
            )
        )

    def viewed(self, shape: Sequence[int], of: Callable[[At], Sequence[Affine]]) -> "Value":
        """Return a view of another shape; `of` gives the position here of a position there."""
        at = tuple(axis(f"d{position}") for position in range(len(shape)))
        extents = {f"d{position}": size for position, size in enumerate(shape)}
        placed = _placed(tuple(of(at)))
        index = tuple(each.substitute(placed).simplified(extents) for each in self.index)
        return replace(self, shape=tuple(shape), index=index)


def whole(array: str, shape: tuple[int, ...], dtype: str) -> Value:
    """Return the value that is an array as it lies."""
    return Value(shape, dtype, array, tuple(axis(f"d{place}") for place in range(len(shape))))


def compute_dtype(dtype: str) -> str:
    """Return the dtype that arithmetic on values of a dtype happens in: float32 for halves."""
    return "float32" if dtype in {"float16", "bfloat16"} else dtype


def widened(value: Expr, dtype: str) -> Expr:
    """Convert to the dtype in which arithmetic happens."""
    return cast(value, compute_dtype(dtype))


def _placed(at: At) -> dict[str, Affine]:
    return {f"d{position}": each for position, each in enumerate(at)}
