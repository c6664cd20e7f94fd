"""Runs a candidate on given inputs and weights and hands its outputs over."""

import time
from typing import Any

import accounting
import loading
import poison
import recorder
import torch
from arena import own_copy
from guards import Guards

_MISMATCH_LIMIT = 2000
_MOST_OUTPUTS = 256
"""More are not looked at; their number is then not the reference's."""
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def flatten(value: Any) -> list[torch.Tensor]:
    """Return the tensors of a result in order; numbers become 0-d tensors.

    A subclass counts as nothing: what it shows when asked need not be what it holds.
    """
    if isinstance(value, torch.Tensor):
        return [value] if type(value) in _PLAIN else []
    if isinstance(value, dict):
        return [each for item in value.values() for each in flatten(item)]
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in flatten(item)]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value)]
    return []


def overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors share memory: same device, storage ranges that meet."""
    if one.device != other.device or one.numel() == 0 or other.numel() == 0:
        return False
    first, second = one.untyped_storage(), other.untyped_storage()
    return (
        first.data_ptr() < second.data_ptr() + second.nbytes()
        and second.data_ptr() < first.data_ptr() + first.nbytes()
    )


def received(session: Any, record: dict[str, Any]) -> Any:
    """Return a call argument from its record, tensors as copies of their own."""
    if "value" in record:
        return record["value"]
    if "items" in record:
        return [received(session, each) for each in record["items"]]
    return session.given.copy_out(record, session.device.name)


def build(session: Any, payload: dict[str, Any]) -> tuple[Any, str]:
    """Construct the candidate with the oracle's weights.

    Returns:
        The model and how its state differs from the oracle's; empty: not.
    """
    loaded = session.files[payload["name"]]
    with session.user_code(loaded.name):
        arguments = loading.init_args(loaded, payload.get("arguments"), payload.get("dims"))
        model = loading.construct(loaded, arguments, int(payload["seed"]), session.device.name)
        model = loading.place(
            model, payload.get("dtype"), payload.get("memory_format"), session.device.name
        )
    return model, _load_state(session, model, payload.get("state") or {})


def _load_state(session: Any, model: Any, records: dict[str, Any]) -> str:
    if not isinstance(model, torch.nn.Module):
        names = ", ".join(sorted(records))
        return f"Model is no torch.nn.Module, so it cannot take {names}" if records else ""
    state = {
        name: session.given.copy_out(each, session.device.name) for name, each in records.items()
    }
    own = model.state_dict()
    wrong = [
        f"{name} is {list(own[name].shape)}, expected {list(each.shape)}"
        for name, each in state.items()
        if name in own and own[name].shape != each.shape
    ]
    wrong += [f"{name} is missing" for name in state if name not in own]
    wrong += [f"{name} is not in the reference" for name in own if name not in state]
    if wrong:
        return "; ".join(wrong)[:_MISMATCH_LIMIT]
    try:
        model.load_state_dict(state, strict=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:_MISMATCH_LIMIT]
    return ""


def forward(session: Any, name: str, model: Any, inputs: list[Any], modes: list[Any]) -> Any:
    """Call the model once, synchronised before and after.

    Returns:
        The result and host seconds.
    """
    session.device.synchronize()
    with session.user_code(name):
        start = time.perf_counter()
        for mode in modes:
            mode.__enter__()
        try:
            with torch.no_grad():
                result = model(*inputs) if callable(model) else model.forward(*inputs)
        finally:
            for mode in reversed(modes):
                mode.__exit__(None, None, None)
        session.device.synchronize()
        seconds = time.perf_counter() - start
    return result, seconds


def tensors_of(value: Any) -> list[torch.Tensor]:
    """Return tensors inside a call argument."""
    return flatten(value) if isinstance(value, (torch.Tensor, list, tuple)) else []


def _call(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Run one case once or twice; see `CaseEvidence` for what the answer feeds.

    The second call has another poison. It is left out where ``again`` says ``"if_needed"`` and
    the first one left no trace of poison.
    """
    watch = _watching(session, payload)
    model, mismatch = build(session, payload)
    if mismatch:
        return {"state_mismatch": mismatch}
    name = payload["name"]
    guards = Guards() if session.device.is_accelerator else None
    given = [received(session, each) for each in payload["inputs"]]
    inputs = [_guarded(value, guards, index, payload) for index, value in enumerate(given)]
    account = accounting.Accounting()
    modes = [poison.Poison(poison.FIRST, guards), account]
    first, seconds = forward(session, name, model, inputs, modes)
    outputs, seen = flatten(first)[:_MOST_OUTPUTS], watch.drain()
    kept = _kept(session, outputs, inputs)
    answer: dict[str, Any] = {"mutated": _mutated(session, payload, given, inputs)}
    again: list[torch.Tensor] = []
    if payload.get("again") == "always" or any(map(_may_be_poisoned, outputs)):
        if any(True for _ in getattr(model, "buffers", list)()):
            _load_state(session, model, payload.get("state") or {})
        modes = [poison.Poison(poison.SECOND, guards), account]
        second, _ = forward(session, name, model, inputs, modes)
        again = flatten(second)[:_MOST_OUTPUTS]
    answer |= _shared(outputs, again, inputs)
    answer |= {
        "launches": seen,
        "library_calls": sorted(account.computed),
        "device_copies": sorted(account.copied),
        "faults": _distinct(_drain_faults(session) + (guards.faults() if guards else [])),
        "redirected": sorted(session.replaced),
        "configurations": watch.configurations,
        "configuration": watch.chosen if watch.configurations > 1 else "",
        "seconds": seconds,
        "notes": [each for each in (session.given.note, session.answers.note) if each],
    }
    return answer | hand_over(session, kept, again)


def _kept(session: Any, outputs: list[torch.Tensor], inputs: list[Any]) -> list[torch.Tensor]:
    """Return outputs whose values last: those that share memory with an input are copied.

    Inputs that the call changed get their values back afterwards.
    """
    flat = [each for value in inputs for each in tensors_of(value)]
    return [
        own_copy(each.detach(), session.device.name)
        if any(overlap(each, given) for given in flat)
        else each
        for each in outputs
    ]


def _guarded(value: Any, guards: Guards | None, index: int, payload: dict[str, Any]) -> Any:
    """Surround an input with guard bands where nothing better checks accesses."""
    if guards is None or not isinstance(value, torch.Tensor) or value.numel() == 0:
        return value
    return guards.surround(value, input_name(payload, index))


def input_name(payload: dict[str, Any], index: int) -> str:
    """Return the name of an input for people."""
    names = payload.get("names") or []
    return str(names[index]) if index < len(names) else f"input {index}"


def _watching(session: Any, payload: dict[str, Any]) -> recorder.Recorder:
    """Set the recorder up for one case and forget what was seen before."""
    watch = recorder.RECORDER
    watch.is_active = True
    watch.path = session.files[payload["name"]].path
    watch.configuration, watch.configurations = payload.get("configuration"), 1
    watch.drain()
    _drain_faults(session)
    session.replaced = set()
    return watch


def _may_be_poisoned(output: torch.Tensor) -> bool:
    """Whether poison in fresh memory could have reached an output."""
    if not output.dtype.is_floating_point:
        return True
    return bool(output.float().isnan().any())


def _shared(
    outputs: list[torch.Tensor], again: list[torch.Tensor], inputs: list[Any]
) -> dict[str, Any]:
    """Say which outputs share memory with inputs, and whether any does with the next call's."""
    flat = [each for value in inputs for each in tensors_of(value)]
    aliased = [i for i, out in enumerate(outputs) if any(overlap(out, each) for each in flat)]
    own = [out for i, out in enumerate(outputs) if i not in aliased]
    return {
        "aliased": aliased,
        "stale": any(overlap(out, later) for out in own for later in again),
    }


def _drain_faults(session: Any) -> list[dict[str, Any]]:
    if not session.interpreted:
        return []
    from bounds import WATCH

    return WATCH.drain()


def _distinct(faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep one fault per access site and argument: both calls find the same."""
    kept = {
        (each["access"], each["kernel"], each["line"], each["argument"]): each for each in faults
    }
    return list(kept.values())


def _mutated(
    session: Any, payload: dict[str, Any], given: list[Any], inputs: list[Any]
) -> list[str]:
    """Name inputs whose values changed, and put the given values back.

    What was given is still there where the call got guarded copies; else it is read again.
    """
    changed = []
    for index, (record, before, value) in enumerate(
        zip(payload["inputs"], given, inputs, strict=True)
    ):
        if not isinstance(value, torch.Tensor):
            continue
        is_apart = before.data_ptr() != value.data_ptr()
        kept = before if is_apart else session.given.copy_out(record, session.device.name)
        if not same_bits(kept, value):
            changed.append(input_name(payload, index))
            value.data.copy_(kept)
    return changed


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Compare two tensors of one shape; NaN equals NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    first, second = own_copy(one.contiguous(), str(one.device)), other.contiguous()
    return torch.equal(first.reshape(-1).view(torch.uint8), second.reshape(-1).view(torch.uint8))


def hand_over(session: Any, outputs: list[Any], again: list[Any]) -> dict[str, Any]:
    """Write both results into the shared memory."""
    offset, records, repeated = 0, [], []
    for group, target in ((outputs, records), (again, repeated)):
        for tensor in group:
            plain = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor
            record, offset = session.answers.put(plain, offset, keep_strides=False)
            record["own_strides"] = list(plain.stride())
            record["device"] = str(tensor.device)
            target.append(record)
    return {"outputs": records, "again": repeated}


OPERATIONS = {"call": _call}
