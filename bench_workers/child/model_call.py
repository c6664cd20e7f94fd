"""Builds a model and its inputs for one workload as fake tensors."""

from pathlib import Path
from typing import Any

import draw
import loading
import protocol
import torch
from fakes import HOST

CANDIDATE = "candidate"


def load_candidate(source: str, folder: Path) -> loading.Loaded:
    """Import a source; its lines are known as the candidate's from then on."""
    protocol.CANDIDATE_FILES.add(str(folder / f"{CANDIDATE}.py"))
    return loading.load(CANDIDATE, source, folder)


def prepare(loaded: loading.Loaded, workload: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Construct the model of a workload and its inputs; must run under `fake_tensors`.

    Args:
        loaded: The candidate's file.
        workload: Fields of ``Workload``.

    Returns:
        What to call, and with what.
    """
    arguments = loading.init_args(loaded, workload.get("init_args"), workload.get("dims"))
    model = loading.construct(loaded, arguments, 0)
    model = loading.place(model, workload.get("dtype"), workload.get("memory_format"), HOST)
    inputs = _inputs(loaded, workload)
    return model if callable(model) else model.forward, inputs


def _inputs(loaded: loading.Loaded, workload: dict[str, Any]) -> list[Any]:
    if not workload.get("from_file"):
        return draw.draw(workload["inputs"], "random", 0, workload.get("memory_format"), HOST)
    helper = loaded.helper("get_inputs")
    if helper is None:
        raise loading.Fault("no_inputs", "the file defines no get_inputs()")
    given = loading.call_helper(helper, workload.get("dims"))
    dtype = getattr(torch, workload["dtype"]) if workload.get("dtype") else None
    return [_cast(each, dtype) for each in given]


def _cast(value: Any, dtype: torch.dtype | None) -> Any:
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.to(dtype) if is_float and dtype is not None else value
