"""What is known about a tensor on the host side before anything runs: sizes, format, layout."""

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from math import prod
from typing import TypeAlias
from typing import Union


@dataclass(frozen=True, slots=True)
class HostTensor:
    """One tensor.

    Attributes:
        shape: Sizes; None when not known.
        dtype: Torch name; None when not known.
        strides: In elements; None when not known.
        is_parameter: Whether it is a parameter or buffer of the model.
    """

    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    strides: tuple[int, ...] | None = None
    is_parameter: bool = False

    @property
    def is_contiguous(self) -> bool:
        """Whether it is known to lie row by row without gaps."""
        return self.shape is not None and self.strides == row_major(self.shape)


Value: TypeAlias = Union[bool, int, float, str, HostTensor, tuple["Value", ...], None]
"""None: not known."""


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(1, shape[axis + 1])
    return tuple(strides)


def fresh(shape: Value, dtype: str | None) -> HostTensor:
    """Return a newly allocated tensor; sizes that are not all known leave its shape open."""
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, tuple):
        return HostTensor(dtype=dtype)
    known = tuple(each for each in sizes if isinstance(each, int))
    if len(known) != len(sizes):
        return HostTensor(dtype=dtype)
    return HostTensor(known, dtype, row_major(known))


def _size(tensor: HostTensor, args: tuple[Value, ...]) -> Value:
    if not args or tensor.shape is None:
        return tensor.shape
    return _pick(tensor.shape, args[0])


def _stride(tensor: HostTensor, args: tuple[Value, ...]) -> Value:
    if not args or tensor.strides is None:
        return tensor.strides
    return _pick(tensor.strides, args[0])


def _pick(values: tuple[int, ...], index: Value) -> int | None:
    if not isinstance(index, int) or not -len(values) <= index < len(values):
        return None
    return values[index]


def _numel(tensor: HostTensor, _: tuple[Value, ...]) -> Value:
    return None if tensor.shape is None else prod(tensor.shape)


def _dim(tensor: HostTensor, _: tuple[Value, ...]) -> Value:
    return None if tensor.shape is None else len(tensor.shape)


def _contiguous(tensor: HostTensor, _: tuple[Value, ...]) -> Value:
    if tensor.shape is None:
        return tensor
    return replace(tensor, strides=row_major(tensor.shape))


def _transposed(tensor: HostTensor, args: tuple[Value, ...]) -> Value:
    rank = None if tensor.shape is None else len(tensor.shape)
    axes = [each % rank for each in args if isinstance(each, int) and rank]
    if rank is None or len(axes) != len(args):
        return replace(tensor, shape=None, strides=None)
    order = list(range(rank))
    first, second = axes or (0, rank - 1)
    order[first], order[second] = order[second], order[first]
    return _permuted(tensor, tuple(order))


def _permuted(tensor: HostTensor, args: tuple[Value, ...]) -> Value:
    order = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    axes = [each for each in order if isinstance(each, int)]
    if tensor.shape is None or len(axes) != len(tensor.shape):
        return replace(tensor, shape=None, strides=None)
    strides = tensor.strides
    return replace(
        tensor,
        shape=tuple(tensor.shape[each] for each in axes),
        strides=None if strides is None else tuple(strides[each] for each in axes),
    )


def _viewed(tensor: HostTensor, args: tuple[Value, ...]) -> Value:
    wanted = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    sizes = [each for each in wanted if isinstance(each, int)]
    if tensor.shape is None or len(sizes) != len(wanted) or not tensor.is_contiguous:
        return replace(tensor, shape=None, strides=None)
    total = prod(tensor.shape)
    if -1 in sizes:
        sizes[sizes.index(-1)] = total // max(1, prod(each for each in sizes if each != -1))
    shape = tuple(sizes)
    return replace(tensor, shape=shape, strides=row_major(shape))


def _flattened(tensor: HostTensor, args: tuple[Value, ...]) -> Value:
    return _viewed(tensor, (-1,)) if not args else replace(tensor, shape=None, strides=None)


def _same(tensor: HostTensor, _: tuple[Value, ...]) -> Value:
    return tensor


def _is_contiguous(tensor: HostTensor, _: tuple[Value, ...]) -> Value:
    return None if tensor.strides is None else tensor.is_contiguous


METHODS: Mapping[str, Callable[[HostTensor, tuple[Value, ...]], Value]] = {
    "size": _size,
    "stride": _stride,
    "numel": _numel,
    "nelement": _numel,
    "dim": _dim,
    "contiguous": _contiguous,
    "t": _transposed,
    "transpose": _transposed,
    "permute": _permuted,
    "view": _viewed,
    "reshape": _viewed,
    "flatten": _flattened,
    "is_contiguous": _is_contiguous,
    "detach": _same,
    "cuda": _same,
    "xpu": _same,
    "cpu": _same,
    "clone": _contiguous,
}
"""Methods whose result follows from sizes and layout alone."""

CASTS: Mapping[str, str] = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
}
"""Methods that change the format, with the format."""
