"""Exports a model at given shapes, as plain data: operators, shapes, dtypes, lines. No values.

Model and inputs are fake tensors, so that size costs nothing; only a constructor that looks at
values is run for real. What the answer means is decided on the other side.
"""

import itertools
import time
from typing import Any

import loading
import oracle
import torch
from capture_nodes import node_records
from capture_nodes import shape_and_dtype
from torch._subclasses.fake_tensor import FakeTensorMode

_ROLES = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "constant"}
_DATA_DEPENDENT = frozenset(
    {
        "DataDependentOutputException",
        "DynamicOutputShapeException",
        "GuardOnDataDependentSymNode",
        "UserErrorType.DYNAMIC_CONTROL_FLOW",
    }
)
_MESSAGE_LIMIT = 1000


def _capture(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Construct, export, describe; what stands in the way is an answer, too."""
    started = time.monotonic()
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = _construct(session, payload, mode)
    inputs = _inputs(session, payload, mode)
    if not isinstance(model, torch.nn.Module):
        return _refused("not_exportable", "the class Model is no torch.nn.Module")
    for position, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor):
            kind = type(value).__name__
            return _refused("argument", f"argument {position} of forward is of type {kind}")
    model.train(payload["mode"] == "train")
    name = str(payload["name"])
    try:
        with session.user_code(name), torch.no_grad(), mode:
            exported = torch.export.export(model, tuple(inputs), strict=False)
    except loading.Fault as fault:
        return _export_refusal(fault)
    answer = _described(exported, inputs, str(session.directory / f"{name}.py"))
    return {**answer, "seconds": time.monotonic() - started}


def _construct(session: Any, payload: dict[str, Any], mode: FakeTensorMode) -> Any:
    """Construct the model without values; for real where its constructor looks at them."""
    try:
        return _constructed(session, payload, mode)
    except loading.Fault:
        return _constructed(session, payload, None)


def _constructed(session: Any, payload: dict[str, Any], mode: FakeTensorMode | None) -> Any:
    loaded = session.files[payload["name"]]
    with session.user_code(loaded.name), mode or torch.no_grad():
        arguments = loading.init_args(loaded, payload.get("init_args"), payload.get("dims"))
        model = loading.construct(loaded, arguments, int(payload["seed"]))
        dtype, memory_format = payload.get("dtype"), payload.get("memory_format")
        if mode is None or not isinstance(model, torch.nn.Module):
            return loading.place(model, dtype, memory_format, "cpu")
        _place_fakes(model, dtype, memory_format)
        return model


def _place_fakes(model: torch.nn.Module, dtype: str | None, memory_format: str | None) -> None:
    """Cast as `loading.place` does; ``Module.to`` swaps tensors, which fakes refuse."""
    cast = getattr(torch, dtype) if dtype is not None else None
    seen: dict[int, Any] = {}

    def placed(tensor: torch.Tensor) -> torch.Tensor:
        if cast is not None and cast.is_floating_point and tensor.is_floating_point():
            tensor = tensor.to(cast)
        if tensor.dim() == {"channels_last": 4, "channels_last_3d": 5}.get(memory_format or ""):
            tensor = tensor.contiguous(memory_format=getattr(torch, memory_format or ""))
        return tensor

    for module in model.modules():
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):  # noqa: SLF001
            if tensor is None:
                continue
            if id(tensor) not in seen:
                made = placed(tensor.detach())
                is_parameter = isinstance(tensor, torch.nn.Parameter)
                fresh = torch.nn.Parameter(made, made.is_floating_point()) if is_parameter else made
                seen[id(tensor)] = (fresh, tensor)
            setattr(module, name, seen[id(tensor)][0])


def _inputs(session: Any, payload: dict[str, Any], mode: FakeTensorMode) -> list[Any]:
    """Make fake inputs of the shapes asked for, or of those the file makes."""
    specs = payload.get("inputs")
    if specs:
        with mode:
            return [_empty(each, payload.get("memory_format")) for each in specs]
    loaded = session.files[payload["name"]]
    helper = loaded.helper("get_inputs")
    if helper is None:
        raise loading.Fault("no_inputs", "the file defines no get_inputs()")
    try:
        with session.user_code(loaded.name), mode:
            return list(loading.call_helper(helper, payload.get("dims")))
    except loading.Fault:
        made = oracle.make_inputs(session, payload, int(payload["seed"]))
        with mode:
            return [mode.from_tensor(x) if isinstance(x, torch.Tensor) else x for x in made]


def _empty(spec: dict[str, Any], memory_format: str | None) -> torch.Tensor:
    made = torch.empty(list(spec["shape"]), dtype=getattr(torch, spec["dtype"]))
    if memory_format is not None and made.dim() == {"channels_last": 4}.get(memory_format, 5):
        return made.contiguous(memory_format=getattr(torch, memory_format))
    return made


def _described(exported: Any, inputs: list[Any], path: str) -> dict[str, Any]:
    """Turn an exported program into records."""
    given = {each.arg.name: each for each in exported.graph_signature.input_specs}
    tensors, arguments = [], []
    for node in exported.graph.nodes:
        if node.op != "placeholder":
            continue
        spec, value = given[node.name], node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return _refused("argument", f"the argument {node.name} of forward is no tensor")
        record = {"name": node.name, **shape_and_dtype(value)}
        if spec.kind.name == "USER_INPUT":
            arguments.append(record)
        else:
            constant = exported.constants.get(spec.target)
            record["role"] = _ROLES.get(spec.kind.name, "constant")
            record["path"] = str(spec.target)
            record["value"] = _scalar(constant) if record["role"] == "constant" else None
            tensors.append(record)
    results = next(each for each in exported.graph.nodes if each.op == "output").args[0]
    is_plain = _is_plain(exported.call_spec.out_spec)
    return {
        "inputs": arguments,
        "tensors": tensors,
        "nodes": node_records(exported.graph, path),
        "outputs": [getattr(each, "name", None) if is_plain else None for each in results],
        "aliased": _aliased(inputs),
    }


def _is_plain(structure: Any) -> bool:
    """Say whether what a module returns is a tensor, or a flat tuple or list."""
    children = structure.children_specs
    is_flat = structure.type in (tuple, list) and all(each.is_leaf() for each in children)
    return bool(structure.is_leaf() or is_flat)


def _scalar(constant: Any) -> Any:
    """Return the value of a scalar constant; None where there is none to be had."""
    held = getattr(constant, "constant", constant)
    if not isinstance(held, torch.Tensor) or held.dim() or held.dtype.is_complex:
        return None
    if getattr(held, "fake_mode", None) is not None:
        return None
    value = held.item()
    is_plain = not isinstance(value, float) or value - value == 0.0
    return value if is_plain else {"float": repr(value)}


def _aliased(inputs: list[Any]) -> list[list[int]]:
    """Return pairs of positions of inputs that share a storage."""
    keys = [each.untyped_storage()._cdata for each in inputs]  # noqa: SLF001
    pairs = itertools.combinations(range(len(keys)), 2)
    return [[first, second] for first, second in pairs if keys[first] == keys[second]]


def _export_refusal(fault: Any) -> dict[str, Any]:
    causes, error = [], fault.__cause__
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    names = {kind.__name__ for each in causes for kind in type(each).__mro__}
    names |= {str(getattr(each, "error_type", "")) for each in causes}
    reason = "data_dependent" if names & _DATA_DEPENDENT else "not_exportable"
    message = fault.message.strip().partition("\n\n")[0]
    if reason == "data_dependent":
        message = f"what is computed here depends on values ({message})"
    return _refused(reason, message, fault.line)


def _refused(reason: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"refused": {"reason": reason, "message": message[:_MESSAGE_LIMIT], "line": line}}


OPERATIONS = {"capture": _capture}
