"""The oracle's side of a timing run: makes input sets, and checks outputs of timed calls."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from batches import digest
from compare import compare
from draw import draw
from oracle import Answered
from oracle import begin
from oracle import evaluate
from oracle import evaluate_wide
from oracle import export
from oracle import fresh
from oracle import make_inputs
from running import flatten
from running import tensors_of
from weights import base_of
from weights import refresh

_MOST_SETS = 16
_FALLBACK_CACHE_BYTES = 64 << 20


@dataclass(slots=True)
class Timed:
    """A workload being timed.

    Attributes:
        model: The oracle's, whose weights follow the seed of the call that is checked.
        base: Its weights before they are changed.
        sets: Input sets of a file's own ``get_inputs``; the first one only when a recipe draws.
    """

    model: Any
    base: dict[str, torch.Tensor]
    sets: list[list[Any]]


def _time_sets(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Construct the oracle's model, make input sets and put all into shared memory."""
    answered, model = begin(session, payload)
    sets = [answered.inputs]
    if not payload["inputs"]:
        size = sum(
            each.numel() * each.element_size() for value in sets[0] for each in tensors_of(value)
        )
        cache_bytes = session.device.properties()["l2_bytes"] or _FALLBACK_CACHE_BYTES
        count = min(_MOST_SETS, 2 * cache_bytes // max(1, size) + 2)
        first = int(payload["seed"])
        sets += [make_inputs(session, payload, first + index) for index in range(1, count)]
    workload = str(payload["workload"])
    session.memory.setdefault("timed", {})[workload] = Timed(model, base_of(model), sets)
    return export(session, sets, answered.state) | {"arguments": answered.arguments}


def _verify(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Compare the outputs of one timed call with the oracle's for the same seed."""
    timed: Timed = session.memory["timed"][str(payload["workload"])]
    device, seed = session.device.name, int(payload["sample_seed"])
    if payload["inputs"]:
        inputs = draw(
            payload["inputs"], payload["fill"], seed, payload.get("memory_format"), device
        )
    else:
        inputs = timed.sets[int(payload["set"])]
    if payload.get("weights", True):
        refresh(timed.model, timed.base, int(payload.get("weights_seed", seed)))
    keep = copy.deepcopy(timed.model) if isinstance(timed.model, torch.nn.Module) else timed.model
    own = flatten(evaluate(session, payload, keep, fresh(session, inputs)))
    answered = Answered(None, inputs, {}, own=own)
    wide = None
    if payload.get("is_reference"):
        wide = evaluate_wide(session, payload, timed.model, answered)
    outputs, received = [], []
    for index, (record, expected) in enumerate(zip(payload["outputs"], own, strict=False)):
        got = session.answers.copy_out(record, device)
        received.append(got)
        evidence, _ = compare(
            index,
            got,
            None,
            record,
            own=expected,
            wide=None if wide is None else wide[index],
            rtol=float(payload["rtol"]),
            atol=float(payload["atol"]),
        )
        outputs.append(evidence)
    size = digest([each.double().abs() for each in received])
    return {
        "outputs": outputs,
        "output_count": len(own),
        "digest": float(digest(received)),
        "digest_scale": float(size),
    }


def _time_forget(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Forget a workload."""
    session.memory.get("timed", {}).pop(str(payload["workload"]), None)
    session.device.empty_cache()
    return {}


OPERATIONS = {"time_sets": _time_sets, "verify": _verify, "time_forget": _time_forget}
