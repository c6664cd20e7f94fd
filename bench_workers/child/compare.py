"""Compares a candidate's output with the oracle's: numbers only, no opinion."""

import math
from typing import Any

import poison
import torch


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
    unwritten = torch.zeros(got.shape, dtype=torch.bool, device=got.device)
    if again is not None and again.shape == got.shape:
        unwritten = _unwritten(got, again) & ~_nan(expected)
        differing = int((_different(got, again) & ~unwritten).sum())
    is_exact = not own.dtype.is_floating_point
    numbers = _values(got, expected, own, 0.0 if is_exact else rtol, 0.0 if is_exact else atol)
    numbers["unwritten_count"] = int(unwritten.sum())
    reference = None
    if wide is not None and wide.shape == own.shape and own.dtype.is_floating_point:
        reference = number(_relative_error(own.double(), expected))
    return evidence | numbers | {"reference_error": reference}, differing


def _name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _nan(tensor: torch.Tensor) -> torch.Tensor:
    return torch.isnan(tensor)


def _shape_differs(got: torch.Tensor, expected: torch.Tensor) -> dict[str, Any]:
    return {
        "wrong_count": max(1, got.numel(), expected.numel()),
        "unwritten_count": 0,
        "nan_count": int(_nan(got.double()).sum()),
        "expected_nan_count": int(_nan(expected).sum()),
        "first_wrong": None,
        "first_got": None,
        "first_expected": None,
        "max_abs_error": "inf",
        "error": "inf",
        "reference_error": None,
        "scale": number(_largest(expected)),
    }


def _unwritten(got: torch.Tensor, again: torch.Tensor) -> torch.Tensor:
    """Mark elements that follow the poison put into fresh memory."""
    if got.dtype.is_floating_point:
        return _nan(got.double()) & ~_nan(again.double())
    first = poison.value_of(got.dtype, poison.FIRST)
    second = poison.value_of(got.dtype, poison.SECOND)
    return (got == first) & (again == second)


def _different(got: torch.Tensor, again: torch.Tensor) -> torch.Tensor:
    first, second = got.double(), again.double()
    return (first != second) & ~(_nan(first) & _nan(second))


def _values(
    got: torch.Tensor, expected: torch.Tensor, own: torch.Tensor, rtol: float, atol: float
) -> dict[str, Any]:
    got, own = got.double(), own.double()
    error = (got - expected).abs()
    # Where the reference itself leaves the range of its format, its answer there is right, too.
    nan_got, nan_expected = _nan(got), _nan(expected) | _nan(own)
    right = (error <= atol + rtol * expected.abs()) & torch.isfinite(expected)
    right |= (got == expected) | (nan_got & nan_expected)
    right |= (got == own) & torch.isinf(own)
    wrong = ~right
    first = _first(wrong)
    finite = torch.isfinite(error)
    return {
        "wrong_count": int(wrong.sum()),
        "nan_count": int(nan_got.sum()),
        "expected_nan_count": int(nan_expected.sum()),
        "first_wrong": first,
        "first_got": None if first is None else number(float(got[tuple(first)])),
        "first_expected": None if first is None else number(float(expected[tuple(first)])),
        "max_abs_error": number(float(error[finite].max()) if bool(finite.any()) else 0.0),
        "error": number(_relative_error(got, expected)),
        "scale": number(_largest(expected)),
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


def _relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the root mean square error relative to the expectation's root mean square."""
    finite = torch.isfinite(got) & torch.isfinite(expected)
    if not bool(finite.any()):
        return 0.0
    # Scaled, so that squares of large values stay finite.
    scale = _largest(expected[finite]) or 1.0
    error = ((got[finite] - expected[finite]) / scale).square().mean().sqrt()
    size = (expected[finite] / scale).square().mean().sqrt()
    return float(error / size) if float(size) > 0.0 else float(error)


def _largest(tensor: torch.Tensor) -> float:
    finite = tensor[torch.isfinite(tensor)]
    return float(finite.abs().max()) if finite.numel() else 0.0
