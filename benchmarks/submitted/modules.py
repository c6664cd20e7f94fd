"""Loads kernel files and references, draws inputs, and checks outputs in float64."""

import copy
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload

_ELEMENTS_PER_SLICE = 1 << 26
"""Outputs are compared in slices, so that float64 copies of large ones fit."""


def load(path: Path, name: str) -> ModuleType:
    """Import a file under a name of its own.

    Raises:
        ImportError: It is no Python file.
    """
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


def construct(module: ModuleType, workload: Workload, device: str, seed: int) -> Any:
    """Build the file's Model for a workload, with seeded weights, cast and on the device."""
    torch.manual_seed(seed)
    model = module.Model(*(workload.init_args or ())).to(device)
    return model.to(getattr(torch, workload.dtype)) if workload.dtype else model


def with_weights_of(model: Any, other: Any) -> Any:
    """Give a model the weights of another and return it."""
    model.load_state_dict(other.state_dict())
    return model


def draw(workload: Workload, device: str, seed: int) -> list[Any]:
    """Return fresh inputs."""
    generator = torch.Generator(device=device).manual_seed(seed)
    return [_draw_one(each, device, generator) for each in workload.inputs]


def _draw_one(spec: TensorSpec, device: str, generator: Any) -> Any:
    dtype = getattr(torch, spec.dtype)
    if spec.transforms:
        raise ValueError(f"{spec.name}: transforms are not drawn here: {spec.transforms}")
    if not dtype.is_floating_point:
        low, high = (int(each) for each in spec.range or (0, 2))
        return torch.randint(low, high, spec.shape, dtype=dtype, device=device, generator=generator)
    values = torch.empty(spec.shape, dtype=dtype, device=device)
    if spec.range is None:
        return values.normal_(generator=generator)
    return values.uniform_(*spec.range, generator=generator)


def expected(reference: Any, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the outputs of the reference in float64."""
    wide_inputs = [each.double() if each.is_floating_point() else each.clone() for each in inputs]
    return as_tuple(copy.deepcopy(reference).double()(*wide_inputs))


def as_tuple(result: Any) -> tuple[Any, ...]:
    """Return outputs as a tuple."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def wrong_elements(
    got: Any, wanted: tuple[Any, ...], *, rtol: float, atol: float
) -> tuple[int, float]:
    """Return how many elements miss the tolerance, and the largest error.

    Raises:
        ValueError: Number or shape of outputs differ.
    """
    outputs = as_tuple(got)
    if [each.shape for each in outputs] != [each.shape for each in wanted]:
        raise ValueError(
            f"outputs {[tuple(each.shape) for each in outputs]} where the reference has "
            f"{[tuple(each.shape) for each in wanted]}"
        )
    count, largest = 0, 0.0
    for output, target in zip(outputs, wanted, strict=True):
        pairs = zip(
            output.reshape(-1).split(_ELEMENTS_PER_SLICE),
            target.reshape(-1).split(_ELEMENTS_PER_SLICE),
            strict=True,
        )
        for part, goal in pairs:
            error = (part.double() - goal).abs()
            is_right = (error <= atol + rtol * goal.abs()) | (part.isnan() & goal.isnan())
            count += int((~is_right).sum())
            largest = max(largest, float(error.nan_to_num(nan=0.0).max()) if error.numel() else 0.0)
    return count, largest
