"""The oracle's side: draws inputs, evaluates the reference, compares outputs with it."""

import copy
import json
from collections import OrderedDict
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import Any

import loading
import torch
from arena import own_copy
from compare import compare
from draw import draw
from redirect import Widen
from running import flatten
from running import overlap
from running import same_bits
from running import tensors_of

_KEPT_BYTES = 4 * 2**30
_IN_USE = 2
"""One case is prepared while the outputs of the one before are still to be compared."""
_KEPT_SHARE = 8
"""Answers may take this part of the device's memory where that is more."""
_HOST = "cpu"
_SMALL_BYTES = 1 << 20
"""A case that takes less is kept, exported and compared by the host alone: on the device each of
its small steps would wait for a turn while the candidate works there."""


@dataclass(slots=True)
class Answered:
    """Everything the oracle knows about one case.

    Attributes:
        arguments: Constructor arguments, or None when JSON cannot carry them.
        inputs: Call arguments as drawn.
        state: Weights as constructed and cast.
        own: Outputs in the reference's own dtype.
        wide: Outputs in float64; None when that is not possible.
        mutated: Positions of inputs the reference changes.
        aliased: Outputs of the reference that share memory with an input.
        errors: Of the outputs in the reference's own dtype against float64, once they are known.
        differs: Whether the reference gives different bits twice.
        notes: For the reader.
    """

    arguments: list[Any] | None
    inputs: list[Any]
    state: dict[str, torch.Tensor]
    own: list[torch.Tensor] = field(default_factory=list)
    wide: list[torch.Tensor] | None = None
    errors: dict[int, Any] = field(default_factory=dict)
    mutated: list[int] = field(default_factory=list)
    aliased: list[int] = field(default_factory=list)
    differs: bool = False
    notes: list[str] = field(default_factory=list)

    def size_bytes(self) -> int:
        """Return how much memory this holds."""
        tensors = [*self.state.values(), *self.own, *(self.wide or [])]
        tensors += [each for value in self.inputs for each in tensors_of(value)]
        return sum(each.numel() * each.element_size() for each in tensors)


def _cases(session: Any) -> "OrderedDict[str, Answered]":
    return session.memory.setdefault("cases", OrderedDict())


def _prepare(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Evaluate a case unless it is known, then put inputs and weights into shared memory."""
    cases = _cases(session)
    key = case_key(payload)
    if key not in cases:
        cases[key] = _settled(_answer(session, payload))
        room = max(_KEPT_BYTES, session.device.properties()["memory_bytes"] // _KEPT_SHARE)
        while len(cases) > _IN_USE and sum(each.size_bytes() for each in cases.values()) > room:
            cases.popitem(last=False)
    cases.move_to_end(key)
    answered = cases[key]
    exported = export(session, [answered.inputs], answered.state)
    return {
        "inputs": exported["sets"][0],
        "state": exported["state"],
        "arguments": answered.arguments,
        "output_count": len(answered.own),
        "output_bytes": sum(each.numel() * each.element_size() for each in answered.own),
        "mutated": answered.mutated,
        "aliased": answered.aliased,
        "differs": answered.differs,
        "is_wide": answered.wide is not None,
        "notes": answered.notes,
        "shapes": [shape_text(each) for each in answered.inputs],
    }


def shape_text(value: Any) -> str:
    """Return dtype and sizes of a tensor, or the type of anything else."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return type(value).__name__


def case_key(payload: dict[str, Any]) -> str:
    """Return what tells two cases apart: everything inputs and weights follow from."""
    names = ("name", "fill", "seed", "inputs", "init_args", "dtype", "memory_format", "dims")
    return json.dumps([payload.get(name) for name in names], sort_keys=True)


def _answer(session: Any, payload: dict[str, Any]) -> Answered:
    answered, model = begin(session, payload)
    keep = copy.deepcopy(model) if isinstance(model, torch.nn.Module) else model
    inputs = fresh(session, answered.inputs)
    flat = [each for value in inputs for each in tensors_of(value)]
    results = evaluate(session, payload, keep, inputs)
    answered.aliased = [
        i for i, out in enumerate(results) if any(overlap(out, each) for each in flat)
    ]
    answered.mutated = [
        i
        for i, (now, given) in enumerate(zip(inputs, answered.inputs, strict=True))
        if isinstance(given, torch.Tensor) and not same_bits(now, given)
    ]
    answered.own = [own_copy(each.detach(), session.device.name) for each in results]
    if payload.get("repeat"):
        keep = copy.deepcopy(model) if isinstance(model, torch.nn.Module) else model
        again = evaluate(session, payload, keep, fresh(session, answered.inputs))
        answered.differs = not all(map(same_bits, answered.own, again))
    if payload.get("is_reference"):
        answered.wide = evaluate_wide(session, payload, model, answered)
    return answered


def _settled(answered: Answered) -> Answered:
    """Bring everything of a small case to the host."""
    if answered.size_bytes() >= _SMALL_BYTES:
        return answered
    wide = answered.wide
    return replace(
        answered,
        inputs=[_moved(each, _HOST) for each in answered.inputs],
        state={name: own_copy(each, _HOST) for name, each in answered.state.items()},
        own=[own_copy(each, _HOST) for each in answered.own],
        wide=None if wide is None else [own_copy(each, _HOST) for each in wide],
    )


def begin(session: Any, payload: dict[str, Any]) -> tuple[Answered, Any]:
    """Construct the oracle's model and make inputs."""
    loaded = session.files[payload["name"]]
    seed = int(payload["seed"])
    device = session.device.name
    with session.user_code(loaded.name):
        source = _with_helper(session, payload, "get_init_inputs")
        arguments = loading.init_args(source, payload.get("init_args"), payload.get("dims"))
        model = loading.construct(loaded, arguments, seed, device)
        model = loading.place(model, payload.get("dtype"), payload.get("memory_format"), device)
    state = {}
    if isinstance(model, torch.nn.Module):
        state = {name: own_copy(each, device) for name, each in model.state_dict().items()}
    inputs = make_inputs(session, payload, seed)
    return Answered(_jsonable(arguments), inputs, state), model


def make_inputs(session: Any, payload: dict[str, Any], seed: int) -> list[Any]:
    """Draw inputs by recipe, or let the user's file make them."""
    device = session.device.name
    if payload.get("inputs"):
        return draw(payload["inputs"], payload["fill"], seed, payload.get("memory_format"), device)
    source = _with_helper(session, payload, "get_inputs")
    helper = source.helper("get_inputs")
    if helper is None:
        raise loading.Fault("no_inputs", "the file defines no get_inputs()")
    with session.user_code(source.name):
        loading.seed_everything(seed)
        made = loading.call_helper(helper, payload.get("dims"))
    if not isinstance(made, (list, tuple)):
        raise loading.Fault("no_inputs", "get_inputs() returns no list of inputs")
    return [_moved(each, device) for each in made]


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return own_copy(value.detach(), device)
    if isinstance(value, (list, tuple)):
        return [_moved(each, device) for each in value]
    return value


def _with_helper(session: Any, payload: dict[str, Any], helper: str) -> Any:
    """Return the reference when it has a helper, else the submitted kernel's file."""
    loaded = session.files[payload["name"]]
    other = session.files.get(payload.get("fallback") or "")
    return other if loaded.helper(helper) is None and other is not None else loaded


def _jsonable(arguments: list[Any]) -> list[Any] | None:
    def is_plain(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return all(is_plain(each) for each in value)
        return value is None or isinstance(value, (bool, int, float, str))

    return list(arguments) if all(is_plain(each) for each in arguments) else None


def fresh(session: Any, inputs: list[Any]) -> list[Any]:
    """Return copies of call arguments."""
    return [_moved(each, session.device.name) for each in inputs]


def evaluate(session: Any, payload: dict[str, Any], model: Any, inputs: list[Any]) -> list[Any]:
    """Call the oracle's model and return its tensors."""
    with session.user_code(session.files[payload["name"]].name), torch.no_grad():
        result = flatten(model(*inputs) if callable(model) else model.forward(*inputs))
        session.device.synchronize()
    return result


def evaluate_wide(
    session: Any, payload: dict[str, Any], model: Any, answered: Answered
) -> list[torch.Tensor] | None:
    """Evaluate in float64; None where the reference or the device cannot."""
    if not isinstance(model, torch.nn.Module):
        return None
    try:
        wide = copy.deepcopy(model).double()
        inputs = [_widened(each) for each in fresh(session, answered.inputs)]
        with Widen():
            outputs = evaluate(session, payload, wide, inputs)
        kept = [own_copy(each.detach(), session.device.name) for each in outputs]
    except (loading.Fault, RuntimeError) as error:
        answered.notes.append(f"the oracle is the reference in its own dtype, not float64: {error}")
        session.device.empty_cache()
        return None
    if [each.shape for each in kept] != [each.shape for each in answered.own]:
        return None
    return kept


def _widened(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype.is_floating_point else value
    return [_widened(each) for each in value] if isinstance(value, list) else value


def export(session: Any, sets: list[list[Any]], state: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Put sets of inputs and weights where the other children can read them."""
    offset = 0

    def put(value: Any) -> dict[str, Any]:
        nonlocal offset
        if isinstance(value, torch.Tensor):
            record, offset = session.given.put(value, offset, keep_strides=True)
            return record
        if isinstance(value, (list, tuple)):
            return {"items": [put(each) for each in value]}
        return {"value": value}

    return {
        "sets": [[put(each) for each in inputs] for inputs in sets],
        "state": {name: put(each) for name, each in state.items()},
        "used_bytes": offset,
    }


def _compare(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Compare outputs in shared memory with the oracle's of a case."""
    answered = _cases(session)[case_key(payload)]
    outputs, differing = [], 0
    for index, (record, own) in enumerate(zip(payload["outputs"], answered.own, strict=False)):
        device = str(own.device)
        got = session.answers.copy_out(record, device)
        repeated = payload.get("again") or []
        again = session.answers.copy_out(repeated[index], device) if index < len(repeated) else None
        wide = None if answered.wide is None else answered.wide[index]
        evidence, changed = compare(
            index,
            got,
            again,
            record,
            own=own,
            wide=wide,
            rtol=float(payload["rtol"]),
            atol=float(payload["atol"]),
            reference_error=answered.errors.get(index),
        )
        answered.errors[index] = evidence["reference_error"]
        outputs.append(evidence)
        differing += changed
    return {"outputs": outputs, "differing": differing}


OPERATIONS = {"prepare": _prepare, "compare": _compare}
