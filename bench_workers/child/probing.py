"""A small known piece of work whose answer is known: does this card still compute?"""

from typing import Any

_COUNT = 1 << 20
_FACTOR = 3
_SUMMAND = 7


def computes(device: Any) -> str:
    """Copy, compute and copy back on a device; return what is wrong, or nothing.

    Integers only, so that the one right answer is exact on every device.
    """
    torch = device.torch
    given = torch.arange(_COUNT, dtype=torch.int64)
    there = given.to(device.name)
    found = (there * _FACTOR + _SUMMAND).to(torch.int32)
    total = int(found.to(torch.int64).sum())
    back = found.to("cpu")
    device.synchronize()
    wanted = given * _FACTOR + _SUMMAND
    wrong = int((back.to(torch.int64) != wanted).sum())
    if wrong:
        return f"{wrong:,} of {_COUNT:,} known values came back wrong"
    expected = _FACTOR * _COUNT * (_COUNT - 1) // 2 + _SUMMAND * _COUNT
    return "" if total == expected else f"a known sum is {total}, expected {expected}"


def _probe(session: Any, _payload: dict[str, Any]) -> dict[str, Any]:
    """Say whether the device still computes; what it raises is an answer as well."""
    try:
        return {"wrong": computes(session.device)}
    except Exception as error:
        return {"wrong": f"{type(error).__name__}: {error}"[:1000]}


OPERATIONS = {"probe": _probe}
