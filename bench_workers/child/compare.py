"""Compares a candidate's output with the oracle's: numbers only, no opinion."""

import math
from typing import Any

import poison
import torch

_PLAIN = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


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
    if got.shape != own.shape:
        return evidence | _shape_differs(got, expected), 0
    facts = _repeated(got, again, expected)
    is_exact = not own.dtype.is_floating_point
    wrong, found = _values(got, expected, own, 0.0 if is_exact else rtol, 0.0 if is_exact else atol)
    facts |= found
    if reference_error is None and wide is not None and not is_exact and wide.shape == own.shape:
        facts["reference_error"] = _error_of(own.double(), expected)
    numbers = _fetched(facts)
    differing = numbers.pop("differing")
    evidence |= {"reference_error": reference_error, **numbers}
    return evidence | _first_wrong(wrong, got, expected, numbers["wrong_count"]), differing


def _repeated(
    got: torch.Tensor, again: torch.Tensor | None, expected: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return how many elements follow the poison, and how many others differ in the second call."""
    if again is None or again.shape != got.shape:
        return {"unwritten_count": _none(got), "differing": _none(got)}
    unwritten = _unwritten(got, again) & ~_nan(expected)
    differing = (_different(got, again) & ~unwritten).sum()
    return {"unwritten_count": unwritten.sum(), "differing": differing}


def _none(tensor: torch.Tensor) -> torch.Tensor:
    return torch.zeros((), dtype=torch.int64, device=tensor.device)


def _fetched(facts: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Bring numbers to the host, all at once: each wait is long while others use the device."""
    values = torch.stack([each.double() for each in facts.values()]).tolist()
    return {
        name: number(value) if each.dtype.is_floating_point else int(value)
        for (name, each), value in zip(facts.items(), values, strict=True)
    }


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
        "scale": number(float(_largest(expected.masked_fill(~torch.isfinite(expected), 0.0)))),
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
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Return which elements are wrong, and numbers that are still on the device."""
    # Each pass over a large output in float64 is most of the time there is: sizes are kept, and
    # what does not count is masked, never gathered.
    wide = got.double()
    size = expected.abs()
    finite_expected = size < math.inf
    error = (wide - expected).abs_()
    right = error <= (size * rtol).add_(atol)
    right &= finite_expected
    # Where the reference itself leaves the range of its format, its answer there is right, too.
    nan_got, nan_expected = _nan(got), _nan(expected) | _nan(own)
    right |= (wide == expected) | (nan_got & nan_expected)
    right |= (wide == own.double()) & torch.isinf(_plain(own))
    finite = torch.isfinite(_plain(got)) & finite_expected
    error.masked_fill_(~finite, 0.0)
    size.masked_fill_(~finite_expected, 0.0)
    largest_error, scale = _largest(error), _largest(size)
    size.masked_fill_(~finite, 0.0)
    if torch.float64 in (got.dtype, own.dtype):
        relative = _relative(error, size, finite)
    else:
        relative = _relative_of_narrow(error, size, finite, largest_error)
    return ~right, {
        "wrong_count": right.numel() - right.sum(),
        "nan_count": nan_got.sum(),
        "expected_nan_count": nan_expected.sum(),
        "max_abs_error": largest_error,
        "scale": scale,
        "error": relative,
    }


def _first_wrong(
    wrong: torch.Tensor, got: torch.Tensor, expected: torch.Tensor, count: int
) -> dict[str, Any]:
    """Return place and values of the first wrong element in row-major order."""
    if not count:
        return {"first_wrong": None, "first_got": None, "first_expected": None}
    flat = int(wrong.reshape(-1).to(torch.uint8).argmax())
    place = []
    for size in reversed(wrong.shape):
        place.append(flat % size)
        flat //= size
    place.reverse()
    return {
        "first_wrong": place,
        "first_got": number(float(got[tuple(place)])),
        "first_expected": number(float(expected[tuple(place)])),
    }


def _error_of(got: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    finite = torch.isfinite(got) & torch.isfinite(expected)
    error = (got - expected).masked_fill_(~finite, 0.0)
    return _relative(error, expected.masked_fill(~finite, 0.0), finite)


def _relative(error: torch.Tensor, size: torch.Tensor, finite: torch.Tensor) -> torch.Tensor:
    """Return the root mean square error relative to the expectation's root mean square.

    Args:
        error: Zero where it does not count.
        size: The expectation in float64, zero where it does not count; the sign is not used.
        finite: What counts.
    """
    scale = _largest(size)
    # Squares of what is divided by the largest neither overflow nor vanish.
    scale = torch.where(scale > 0.0, scale, 1.0)
    wrong, whole = torch.linalg.vector_norm(error / scale), torch.linalg.vector_norm(size / scale)
    return wrong / _or_count(whole, finite)


def _relative_of_narrow(
    error: torch.Tensor, size: torch.Tensor, finite: torch.Tensor, largest_error: torch.Tensor
) -> torch.Tensor:
    """Return what `_relative` does, in fewer passes, where outputs are narrower than float64.

    Squares then fit. Only the expectation may lie far outside the range of its format; then the
    largest ones decide.
    """
    wrong, whole = torch.linalg.vector_norm(error), torch.linalg.vector_norm(size)
    found = wrong / _or_count(whole, finite)
    return torch.where(torch.isfinite(whole), found, largest_error / _largest(size))


def _or_count(whole: torch.Tensor, finite: torch.Tensor) -> torch.Tensor:
    """Return the size of the expectation; of as many ones where all of it is zero."""
    return torch.where(whole > 0.0, whole, finite.sum().clamp(min=1).double().sqrt())


def _largest(tensor: torch.Tensor) -> torch.Tensor:
    """Return the largest magnitude."""
    if tensor.numel() == 0:
        return torch.zeros((), dtype=torch.float64, device=tensor.device)
    return torch.linalg.vector_norm(tensor, ord=math.inf)
