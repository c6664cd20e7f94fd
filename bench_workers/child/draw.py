"""Draws test inputs by recipe: same seed, same values; no two tensors of a case alike."""

from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import torch

_OFFSET = 100.0
_CONSTANT = 1.25
_LARGE_NARROW = 1e4
_LARGE_WIDE = 1e18
_SEED_STRIDE = 1_000_003
_SEED_BOUND = 2**62


def draw(
    specs: list[dict[str, Any]], fill: str, seed: int, memory_format: str | None, device: str
) -> list[torch.Tensor]:
    """Return one tensor per spec, in order."""
    return [
        _laid_out(draw_one(spec, fill, _generator(seed, index, device), device), memory_format)
        for index, spec in enumerate(specs)
    ]


def draw_into(
    tensors: list[torch.Tensor], specs: list[dict[str, Any]], fill: str, seed: int
) -> None:
    """Put the values that `draw` would return into tensors that are there already."""
    for index, (tensor, spec) in enumerate(zip(tensors, specs, strict=True)):
        device = str(tensor.device)
        tensor.copy_(draw_one(spec, fill, _generator(seed, index, device), device))


def _generator(seed: int, index: int, device: str) -> torch.Generator:
    generator = torch.Generator(device=device)
    generator.manual_seed((seed * _SEED_STRIDE + index + 1) % _SEED_BOUND)
    return generator


def draw_one(
    spec: dict[str, Any], fill: str, generator: torch.Generator, device: str
) -> torch.Tensor:
    """Return one tensor of a recipe (fields of ``TensorSpec``)."""
    dtype = getattr(torch, spec["dtype"])
    shape = list(spec["shape"])
    transforms = list(spec.get("transforms") or ())
    if "transpose" in transforms:
        shape[-2:] = shape[-1:-3:-1]
    if not dtype.is_floating_point:
        values = _integers(spec, shape, generator, device)
    else:
        values = _floats(spec, fill, shape, generator, device)
    for name in transforms:
        values = TRANSFORMS[name](values)
    return values.to(dtype) if "transpose" not in transforms else _cast_strided(values, dtype)


def _integers(
    spec: dict[str, Any], shape: list[int], generator: torch.Generator, device: str
) -> torch.Tensor:
    low, high = spec.get("range") or (0, 2)
    return torch.randint(
        int(low), max(int(high), int(low) + 1), shape, generator=generator, device=device
    )


def _floats(
    spec: dict[str, Any],
    fill: str,
    shape: list[int],
    generator: torch.Generator,
    device: str,
) -> torch.Tensor:
    dtype = getattr(torch, spec["dtype"])
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    bounds, transforms = spec.get("range"), spec.get("transforms") or ()
    options = {"generator": generator, "device": device, "dtype": wide}
    if "rademacher" in transforms:
        return torch.randint(0, 2, shape, generator=generator, device=device).to(wide) * 2 - 1
    if fill == "zeros":
        values = torch.zeros(shape, device=device, dtype=wide)
    elif fill == "constant":
        values = torch.full(shape, _CONSTANT, device=device, dtype=wide)
    elif bounds is not None or "uniform" in transforms:
        low, high = bounds or (0.0, 1.0)
        values = torch.rand(shape, **options) * (high - low) + low
    else:
        values = torch.randn(shape, **options)
        if fill == "large":
            values = values * (_LARGE_NARROW if dtype.itemsize <= 2 else _LARGE_WIDE)  # noqa: PLR2004
        elif fill == "offset":
            values = values + _OFFSET
    return values if bounds is None else values.clamp(bounds[0], bounds[1])


def _scale(values: torch.Tensor) -> torch.Tensor:
    return values / max(1, values.shape[-1] if values.dim() else 1) ** 0.5


def _normalize(values: torch.Tensor) -> torch.Tensor:
    return values / values.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(values.dtype).tiny)


def _symmetric(values: torch.Tensor) -> torch.Tensor:
    return (values + values.transpose(-1, -2)) / 2


def _same(values: torch.Tensor) -> torch.Tensor:
    return values


TRANSFORMS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "scale": _scale,
    "softmax": lambda values: values.softmax(dim=-1),
    "abs": torch.abs,
    "normalize": _normalize,
    "symmetric": _symmetric,
    "triu": torch.triu,
    "tril": torch.tril,
    "transpose": lambda values: values.transpose(-1, -2),
    "uniform": _same,  # drawn so
    "rademacher": _same,  # drawn so
}


def _cast_strided(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Cast a transposed tensor without losing that it is transposed."""
    return values.to(dtype, memory_format=torch.preserve_format)


def _laid_out(tensor: torch.Tensor, memory_format: str | None) -> torch.Tensor:
    wanted = {"channels_last": 4, "channels_last_3d": 5}.get(memory_format or "")
    if wanted is None or tensor.dim() != wanted:
        return tensor
    return tensor.contiguous(memory_format=getattr(torch, memory_format or ""))
