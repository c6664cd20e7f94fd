"""Several calls in one request, so that the judge can time them by its own clock."""

from dataclasses import dataclass
from dataclasses import field
from typing import Any

import torch
from draw import draw_into
from running import flatten
from weights import refresh

_MOST_OUTPUT_BYTES = 2 << 30


@dataclass(slots=True)
class Batch:
    """Calls made ready, then done.

    Attributes:
        inputs: Arguments of each call; no two share memory.
        results: Outputs of each call.
    """

    inputs: list[list[Any]] = field(default_factory=list)
    results: list[list[torch.Tensor]] = field(default_factory=list)


def prepare(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Draw the inputs of as many calls as there are sets of them and room for their outputs.

    Call number *i* gets the contents of seed ``seed + i``; the weights are those of ``seed``.
    """
    timed = session.memory["timed"][payload["workload"]]
    seed = int(payload["seed"])
    size = sum(each.numel() * each.element_size() for each in timed.last)
    count = min(len(timed.slots), max(1, _MOST_OUTPUT_BYTES // max(1, size)))
    timed.batch = Batch(inputs=timed.slots[:count])
    if timed.recipe is not None:
        for number, inputs in enumerate(timed.batch.inputs):
            draw_into(inputs, timed.recipe["inputs"], timed.recipe["fill"], seed + number)
    refresh(timed.model, timed.base, seed)
    session.device.synchronize()
    return {"calls": count}


def go(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Do all calls, and sum up every output: no answer can be given before all are there."""
    timed = session.memory["timed"][payload["workload"]]
    batch = timed.batch
    with session.user_code(timed.name, redirect=timed.is_redirected), torch.no_grad():
        batch.results = [flatten(timed.model(*inputs)) for inputs in batch.inputs]
    sums = [digest(outputs) for outputs in batch.results]
    session.device.synchronize()
    return {"digests": [float(each) for each in sums]}


def digest(outputs: list[torch.Tensor]) -> torch.Tensor:
    """Return one number that every element of the outputs goes into."""
    total = torch.zeros((), dtype=torch.float64)
    for each in outputs:
        plain = each.detach().contiguous().reshape(-1)
        if plain.is_complex():
            plain = torch.view_as_real(plain)
        if plain.dtype.is_floating_point and plain.dtype.itemsize == 1:
            plain = plain.view(torch.uint8)  # nothing adds 8-bit floats
        total = total.to(each.device) + torch.nan_to_num(plain.sum(dtype=torch.float64))
    return total
