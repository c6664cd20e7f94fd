"""Compares a candidate's output with the oracle's: numbers only, no opinion."""

import math
from typing import Any

import poison
import torch

_PLAIN = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_SAFE_SCALES = (1e-100, 1e100)
"""Between these, squares of float64 neither overflow nor vanish."""


def number(value: float) -> float | str:
    """Return a float as JSON can carry it; non-finite ones as text."""
    return value if math.isfinite(value) else str(value)


def compare(
    index: int,
    got: torch.Tensor,
    again: torch.Tensor | None,
    record: dict[str, Any],
    *,
    own: torch.Tensor,
    wide: torch.Tensor | None,
    rtol: float,
    atol: float,
    reference_error: float | str | None = None,
) -> tuple[dict[str, Any], int]:
    """Return the fields of ``OutputEvidence`` and how many elements differ between two calls.

    Args:
        index: Position in the returned tuple.
        got: First call, on the oracle's device.
        again: Second call with the other poison.
        record: What the candidate's side said about layout and device.
        own: The reference in its own dtype.
        wide: The reference in float64; None: `own` is the oracle.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        reference_error: Of `own` against `wide` where it is known; else it is computed.
    """
    evidence = {
        "index": index,
        "shape": list(got.shape),
        "expected_shape": list(own.shape),
        "dtype": _name(got),
        "expected_dtype": _name(own),
        "strides": list(record.get("own_strides", got.stride())),
        "expected_strides": list(own.stride()),
        "device": str(record.get("device", "")),
    }
    expected = (own if wide is None else wide).double()
    differing = 0
    if got.shape != own.shape:
        return evidence | _shape_differs(got, expected), differing
    unwritten_count = 0
    if again is not None and again.shape == got.shape:
        unwritten = _unwritten(got, again) & ~_nan(expected)
        differing = int((_different(got, again) & ~unwritten).sum())
        unwritten_count = int(unwritten.sum())
    is_exact = not own.dtype.is_floating_point
    numbers = _values(got, expected, own, 0.0 if is_exact else rtol, 0.0 if is_exact else atol)
    numbers["unwritten_count"] = unwritten_count
    if reference_error is None and wide is not None and not is_exact and wide.shape == own.shape:
        reference_error = number(_error_of(own.double(), expected))
    return evidence | numbers | {"reference_error": reference_error}, differing


def _name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose format every comparison knows: a wide pass costs time only."""
    return tensor if tensor.dtype in _PLAIN else tensor.double()


def _nan(tensor: torch.Tensor) -> torch.Tensor:
    return torch.isnan(_plain(tensor))


def _shape_differs(got: torch.Tensor, expected: torch.Tensor) -> dict[str, Any]:
    return {
        "wrong_count": max(1, got.numel(), expected.numel()),
        "unwritten_count": 0,
        "nan_count": int(_nan(got).sum()),
        "expected_nan_count": int(_nan(expected).sum()),
        "first_wrong": None,
        "first_got": None,
        "first_expected": None,
        "max_abs_error": "inf",
        "error": "inf",
        "reference_error": None,
        "scale": number(_largest(expected, torch.isfinite(expected))),
    }


def _unwritten(got: torch.Tensor, again: torch.Tensor) -> torch.Tensor:
    """Mark elements that follow the poison put into fresh memory."""
    if got.dtype.is_floating_point:
        return _nan(got) & ~_nan(again)
    first = poison.value_of(got.dtype, poison.FIRST)
    second = poison.value_of(got.dtype, poison.SECOND)
    return (got == first) & (again == second)


def _different(got: torch.Tensor, again: torch.Tensor) -> torch.Tensor:
    first, second = _plain(got), _plain(again)
    return (first != second) & ~(torch.isnan(first) & torch.isnan(second))


def _values(
    got: torch.Tensor, expected: torch.Tensor, own: torch.Tensor, rtol: float, atol: float
) -> dict[str, Any]:
    wide = got.double()
    error = (wide - expected).abs_()
    finite_expected = torch.isfinite(expected)
    # Where the reference itself leaves the range of its format, its answer there is right, too.
    nan_got, nan_expected = _nan(got), _nan(expected) | _nan(own)
    right = error <= expected.abs().mul_(rtol).add_(atol)
    right &= finite_expected
    right |= (wide == expected) | (nan_got & nan_expected)
    beyond = torch.isinf(_plain(own))
    if bool(beyond.any()):
        right |= (wide == own.double()) & beyond
    wrong = ~right
    first = _first(wrong)
    finite = torch.isfinite(wide) & finite_expected
    error.masked_fill_(~finite, 0.0)
    return {
        "wrong_count": int(wrong.sum()),
        "nan_count": int(nan_got.sum()),
        "expected_nan_count": int(nan_expected.sum()),
        "first_wrong": first,
        "first_got": None if first is None else number(float(got[tuple(first)])),
        "first_expected": None if first is None else number(float(expected[tuple(first)])),
        "max_abs_error": number(float(error.max()) if error.numel() else 0.0),
        "error": number(_relative(error, expected, finite)),
        "scale": number(_largest(expected, finite_expected)),
    }


def _first(wrong: torch.Tensor) -> list[int] | None:
    if not bool(wrong.any()):
        return None
    flat = int(wrong.reshape(-1).to(torch.uint8).argmax())
    place = []
    for size in reversed(wrong.shape):
        place.append(flat % size)
        flat //= size
    return place[::-1]


def _error_of(got: torch.Tensor, expected: torch.Tensor) -> float:
    finite = torch.isfinite(got) & torch.isfinite(expected)
    return _relative((got - expected).masked_fill_(~finite, 0.0), expected, finite)


def _relative(error: torch.Tensor, expected: torch.Tensor, finite: torch.Tensor) -> float:
    """Return the root mean square error relative to the expectation's root mean square.

    Args:
        error: Zero where it does not count.
        expected: In float64.
        finite: What counts.
    """
    # Masked and never gathered: on a large output that is most of the time of a comparison.
    counted = expected.masked_fill(~finite, 0.0)
    scale = _largest(counted, None) or 1.0
    if not _SAFE_SCALES[0] < scale < _SAFE_SCALES[1]:
        error, counted = error / scale, counted / scale
    wrong = float(torch.linalg.vector_norm(error))
    size = float(torch.linalg.vector_norm(counted))
    if size > 0.0:
        return wrong / size
    return wrong / math.sqrt(max(int(finite.sum()), 1))


def _largest(tensor: torch.Tensor, finite: torch.Tensor | None) -> float:
    """Return the largest magnitude where `finite` is true; None: everywhere."""
    if tensor.numel() == 0:
        return 0.0
    size = tensor.abs()
    return float((size if finite is None else size.masked_fill_(~finite, 0.0)).max())
