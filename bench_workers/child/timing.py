"""Operations that time a model on fresh inputs, one call per request."""

import contextlib
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import accounting
import batches
import loading
import recorder
import torch
from clock import SampleClock
from draw import draw
from draw import draw_into
from running import build
from running import flatten
from running import forward
from running import hand_over
from running import received
from running import tensors_of
from weights import base_of
from weights import refresh

_MOST_SLOTS = 16
_COPY_BYTES = 1 << 30
_MATRIX_SIZE = 8192
_REPEATS = 7


@dataclass(slots=True)
class Timed:
    """A model made ready for timing.

    Attributes:
        name: Module name.
        model: With the oracle's weights.
        base: Its weights before they are changed.
        slots: Sets of inputs at different addresses, used in turn.
        recipe: Specs, fill and memory format to draw by; None: slots keep their contents.
        is_redirected: Whether calls need their device names replaced.
        last: Outputs of the last call.
        turn: Calls so far.
        batch: Calls that the judge times by its own clock.
        operators: What computed outside kernels in a call that nobody timed.
    """

    name: str
    model: Any
    base: dict[str, torch.Tensor]
    slots: list[list[Any]]
    recipe: dict[str, Any] | None
    is_redirected: bool = False
    last: list[torch.Tensor] = field(default_factory=list)
    turn: int = 0
    batch: batches.Batch = field(default_factory=batches.Batch)
    operators: frozenset[str] = frozenset()


def own_clock(session: Any) -> SampleClock:
    """Return the session's clock, made at the first use."""
    if "clock" not in session.memory:
        cache_bytes = session.device.properties()["l2_bytes"]
        session.memory["clock"] = SampleClock(session.device, cache_bytes)
    return session.memory["clock"]


def _time_open(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Build a model, make its input sets and call it once; answer the first call's host time."""
    recorder.RECORDER.is_active = False
    recorder.RECORDER.configuration = None
    session.replaced = set()
    started = time.perf_counter()
    model, mismatch = build(session, payload)
    if mismatch:
        return {"state_mismatch": mismatch}
    built_seconds = time.perf_counter() - started
    sets = [[received(session, each) for each in records] for records in payload["sets"]]
    recipe = payload.get("recipe")
    timed = Timed(payload["name"], model, base_of(model), sets, recipe)
    if recipe is not None:
        _add_slots(session, timed, recipe)
    session.memory.setdefault("timed", {})[payload["workload"]] = timed
    inputs = timed.slots[0]
    result, seconds = forward(session, timed.name, model, inputs, [])
    timed.last = flatten(result)
    timed.is_redirected = bool(session.replaced)
    with _listed() as account:
        forward(session, timed.name, model, inputs, [account])
    timed.operators = frozenset(account.computed)
    return {
        "first_call_seconds": seconds,
        "built_seconds": built_seconds,
        "slots": len(timed.slots),
        "redirected": sorted(session.replaced),
    }


def _add_slots(session: Any, timed: Timed, recipe: dict[str, Any]) -> None:
    """Add input sets until all together exceed twice the last-level cache."""
    size = sum(
        each.numel() * each.element_size() for value in timed.slots[0] for each in tensors_of(value)
    )
    wanted = 2 * session.device.properties()["l2_bytes"] // max(1, size) + 2
    while len(timed.slots) < min(wanted, _MOST_SLOTS):
        seed = int(recipe["seed"]) + len(timed.slots)
        timed.slots.append(
            draw(
                recipe["inputs"], recipe["fill"], seed, recipe["memory_format"], session.device.name
            )
        )


def _next(session: Any, payload: dict[str, Any]) -> tuple[Timed, list[Any]]:
    """Put fresh contents into the next input set and fresh weights into the model."""
    timed: Timed = session.memory["timed"][payload["workload"]]
    timed.last = []
    seed = int(payload["seed"])
    if timed.recipe is None:
        inputs = timed.slots[int(payload["set"])]
    else:
        inputs = timed.slots[timed.turn % len(timed.slots)]
        draw_into(inputs, timed.recipe["inputs"], timed.recipe["fill"], seed)
    timed.turn += 1
    if payload.get("weights", True):
        refresh(timed.model, timed.base, seed)
    return timed, inputs


def _call_of(timed: Timed, inputs: list[Any]) -> Any:
    model = timed.model
    return lambda: model(*inputs)


def _time_sample(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Time one call on inputs and weights of a seed, caches cold."""
    timed, inputs = _next(session, payload)
    clock = own_clock(session)
    session.device.synchronize()
    with session.user_code(timed.name, redirect=timed.is_redirected), torch.no_grad():
        result, sample = clock.cold(_call_of(timed, inputs))
    timed.last = flatten(result)
    return {
        "device_seconds": sample.device_seconds,
        "whole_seconds": sample.whole_seconds,
        "is_clean": sample.is_clean,
    }


@contextlib.contextmanager
def _listed() -> Iterator[accounting.Accounting]:
    """Give a list of operators, and keep those of Triton's own out of it."""
    recorder.RECORDER.is_active = True
    try:
        yield accounting.Accounting()
    finally:
        recorder.RECORDER.is_active = False
        recorder.RECORDER.drain()


def _time_listed(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Call as for a sample, but list operators instead of timing.

    Raises:
        Fault: Some compute that did not in the call that nobody timed.
    """
    timed, inputs = _next(session, payload)
    session.device.synchronize()
    with _listed() as account:
        own_clock(session).flush()
        result, _ = forward(session, timed.name, timed.model, inputs, [account])
    timed.last = flatten(result)
    new = sorted(account.computed - timed.operators)
    if new:
        message = f"computes outside its kernels only while timed: {', '.join(new)}"
        raise loading.Fault("PhaseChange", message)
    return {}


def _time_warm(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the median of several calls on one set of inputs, caches warm."""
    timed, inputs = _next(session, payload)
    clock = own_clock(session)
    call = _call_of(timed, inputs)
    seconds = []
    with session.user_code(timed.name, redirect=timed.is_redirected), torch.no_grad():
        for _ in range(int(payload["calls"])):
            result, sample = clock.warm(call)
            seconds.append(sample.device_seconds)
    timed.last = flatten(result)
    return {"device_seconds": statistics.median(seconds)}


def _time_fetch(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Hand over the outputs of the last timed call, or of one of a batch; asked for after it."""
    timed: Timed = session.memory["timed"][payload["workload"]]
    call = payload.get("call")
    return hand_over(session, timed.last if call is None else timed.batch.results[int(call)], [])


def _time_close(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Forget a model and its inputs."""
    session.memory.get("timed", {}).pop(payload["workload"], None)
    session.device.empty_cache()
    return {}


def _ceilings(session: Any, _payload: dict[str, Any]) -> dict[str, Any]:
    """Measure what the unit reaches: a large copy, and large square products per dtype."""
    device = session.device
    size = min(_COPY_BYTES, int(device.properties()["memory_bytes"]) // 16)
    seconds = _copy_seconds(device, size)
    dtypes = (torch.float16, torch.bfloat16, torch.float32)
    with device.fast_products():  # the best rate float32 operands can have
        rates = {str(each).removeprefix("torch."): _product_rate(device, each) for each in dtypes}
    device.empty_cache()
    return {"copy_bytes_per_s": 2 * size / seconds, "matrix_flops_per_s": rates}


def _copy_seconds(device: Any, size: int) -> float:
    source = torch.ones(size, dtype=torch.uint8, device=device.name)
    target = torch.empty_like(source)
    return _best(device, lambda: target.copy_(source))


def _product_rate(device: Any, dtype: torch.dtype) -> float:
    n = _MATRIX_SIZE
    a, b = (torch.randn((n, n), device=device.name).to(dtype) for _ in range(2))
    return 2 * n**3 / _best(device, lambda: a @ b)


def _best(device: Any, call: Any) -> float:
    """Return the fastest of several calls in seconds, after warming up."""
    call()
    call()
    seconds = []
    for _ in range(_REPEATS):
        start, end = device.event(), device.event()
        start.record()
        call()
        end.record()
        device.synchronize()
        seconds.append(start.elapsed_time(end) / 1e3)
    return min(seconds)


OPERATIONS = {
    "time_batch": batches.prepare,
    "time_go": batches.go,
    "time_open": _time_open,
    "time_sample": _time_sample,
    "time_listed": _time_listed,
    "time_warm": _time_warm,
    "time_fetch": _time_fetch,
    "time_close": _time_close,
    "ceilings": _ceilings,
}
