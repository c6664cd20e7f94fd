"""Folds by a kernel's own function, half by half instead of element by element.

Triton's interpreter calls the function of ``tl.reduce`` once for each element, which takes minutes
for a row of some thousand. A function that a device may fold with is associative and works on
blocks, so halves can be combined whole: as many calls as the length has binary digits.
"""

from typing import Any

import numpy as np


def install() -> None:
    """Replace the interpreter's loop. Idempotent."""
    from triton.runtime.interpreter import ReduceOps

    if ReduceOps.generic_reduce is not _folded:
        ReduceOps.generic_reduce = _folded


def _folded(operation: Any, given: Any) -> list[Any]:
    """Stand in for ``ReduceOps.generic_reduce``."""
    is_flat = operation.axis is None
    rank = given[0].handle.data.ndim
    axis = 0 if is_flat else operation.axis
    parts = [each.handle.data.reshape(-1) if is_flat else each.handle.data for each in given]
    dtypes = [each.dtype for each in given]
    while parts[0].shape[axis] > 1:
        parts = _halved(operation, parts, dtypes, axis)
    results = []
    for part, dtype in zip(parts, dtypes, strict=True):
        value = part
        if not operation.keep_dims:
            value = value.item() if is_flat else np.squeeze(value, axis)
        elif is_flat:
            value = value.reshape((1,) * rank)
        results.append(operation.to_tensor(value, dtype))
    return results


def _halved(operation: Any, parts: list[Any], dtypes: list[Any], axis: int) -> list[Any]:
    half = parts[0].shape[axis] // 2
    pieces = [np.split(part, (half, 2 * half), axis) for part in parts]
    left = [operation.to_tensor(each[0], dtype) for each, dtype in zip(pieces, dtypes, strict=True)]
    right = [
        operation.to_tensor(each[1], dtype) for each, dtype in zip(pieces, dtypes, strict=True)
    ]
    found = operation.combine_fn.fn(*left, *right)
    found = found if isinstance(found, tuple) else (found,)
    joined = []
    for each, (first, _, rest) in zip(found, pieces, strict=True):
        value = each.handle.data if hasattr(each, "handle") else each
        whole = np.broadcast_to(value, first.shape).astype(first.dtype)
        joined.append(np.concatenate([whole, rest], axis))
    return joined
