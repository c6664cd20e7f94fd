"""Fills fresh memory with a value that nobody computes, so that unwritten elements show."""

from typing import Any

import torch
from guards import Guards
from torch.overrides import TorchFunctionMode

FIRST = "nan"
SECOND = "finite"
_FINITE = -73.5
_INTEGERS = {FIRST: 0x5B, SECOND: 0x35}
_FRESH = frozenset(
    ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
)


def value_of(dtype: torch.dtype, which: str) -> float | int | bool:
    """Return the poison of a number format: NaN or a finite odd value; two odd integers."""
    if dtype == torch.bool:
        return which == FIRST
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan") if which == FIRST else _FINITE
    return _INTEGERS[which]


class Poison(TorchFunctionMode):
    """Poisons what ``torch.empty`` and its like return while active.

    Args:
        which: `FIRST` or `SECOND`; elements that follow the change were never written.
        guards: Surround fresh memory with these; None: leave it where it is.
    """

    def __init__(self, which: str, guards: Guards | None = None) -> None:
        super().__init__()
        self.which = which
        self.guards = guards

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call on, then fill what came back when it is fresh memory."""
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in _FRESH and isinstance(result, torch.Tensor):
            fill(result, self.which)
            if self.guards is not None and result.layout == torch.strided:
                name = f"fresh {str(result.dtype).removeprefix('torch.')}{list(result.shape)}"
                return self.guards.surround(result, name)
        return result


def fill(tensor: torch.Tensor, which: str) -> None:
    """Poison a tensor's elements."""
    if tensor.numel() == 0:
        return
    narrow = tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1
    if narrow:  # 8-bit floats have no fill kernel everywhere; 0x7F is NaN in both formats
        tensor.view(torch.uint8).fill_(0x7F if which == FIRST else 0x5B)
        return
    tensor.fill_(value_of(tensor.dtype, which))
