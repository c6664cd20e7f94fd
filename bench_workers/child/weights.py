"""Changes a model's weights between timed calls, the same way on both sides of the comparison."""

from collections.abc import Mapping
from typing import Any

import torch

_FACTORS = (0.875, 1.0, 1.125)
_STRIDE = 7919


def base_of(model: Any) -> dict[str, torch.Tensor]:
    """Return copies of a model's floating-point parameters; buffers keep their values."""
    if not isinstance(model, torch.nn.Module):
        return {}
    return {
        name: each.detach().clone()
        for name, each in model.named_parameters()
        if each.dtype.is_floating_point
    }


def refresh(model: Any, base: Mapping[str, torch.Tensor], seed: int) -> None:
    """Write weights that belong to a seed: the base ones shifted along memory and scaled.

    A copy of old weights that a candidate keeps aside gives wrong answers from then on. Exact in
    every number format: both sides compute the same bits.
    """
    if not base:
        return
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for index, (name, values) in enumerate(base.items()):
            shift = (seed * _STRIDE + index) % max(1, values.numel())
            factor = _FACTORS[(seed + index) % len(_FACTORS)]
            parameters[name].copy_(values.roll(shift).mul_(factor))
