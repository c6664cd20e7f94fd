"""Nodes of an exported graph as records that JSON can hold."""

import math
import re
from typing import Any

import torch

_DEVICE_WORDS = (torch.device, torch.layout, torch.memory_format)


def node_records(graph: Any, path: str) -> list[dict[str, Any]]:
    """Return one record per call, in order.

    Args:
        graph: Of an exported program.
        path: The user's file; lines refer to it.
    """
    frame = re.compile(rf'File "{re.escape(path)}", line (\d+)')
    return [
        _record(node, frame) for node in graph.nodes if node.op not in {"placeholder", "output"}
    ]


def _record(node: Any, frame: re.Pattern[str]) -> dict[str, Any]:
    lines = frame.findall(node.meta.get("stack_trace") or "")
    name, overload = _name(node)
    schema = getattr(node.target, "_schema", None)
    written, viewed = _aliases(node, schema)
    value = node.meta.get("val")
    values = value if isinstance(value, (list, tuple)) else [value]
    return {
        "name": node.name,
        "op": name,
        "overload": overload,
        "args": [_argument(each) for each in node.args],
        "kwargs": {key: _argument(each) for key, each in node.kwargs.items()},
        "line": int(lines[-1]) if lines else None,
        "results": [shape_and_dtype(each) for each in values if isinstance(each, torch.Tensor)],
        "is_several": isinstance(value, (list, tuple)),
        "is_random": torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()),
        "writes": written,
        "views": viewed,
    }


def _name(node: Any) -> tuple[str, str]:
    """Return name and overload of what a node calls."""
    packet = getattr(node.target, "overloadpacket", None)
    if packet is None:
        return str(getattr(node.target, "__name__", node.target)), ""
    name = str(packet)
    return name.removeprefix("aten."), str(node.target._overloadname)  # noqa: SLF001


def _aliases(node: Any, schema: Any) -> tuple[list[str], list[str]]:
    """Return which values a node writes into, and which its result may share memory with."""
    written: list[str] = []
    viewed: list[str] = []
    for position, declared in enumerate(schema.arguments if schema is not None else ()):
        if declared.alias_info is None:
            continue
        has_position = position < len(node.args)
        given = node.args[position] if has_position else node.kwargs.get(declared.name)
        for each in given if isinstance(given, (list, tuple)) else [given]:
            if isinstance(each, torch.fx.Node):
                (written if declared.alias_info.is_write else viewed).append(each.name)
    return written, viewed


def shape_and_dtype(value: Any) -> dict[str, Any]:
    """Return sizes and dtype; -1 stands for a size that depends on values."""
    sizes = [each if isinstance(each, int) else -1 for each in value.shape]
    return {"shape": sizes, "dtype": str(value.dtype).removeprefix("torch.")}


def _argument(value: Any) -> Any:
    if isinstance(value, torch.fx.Node):
        return {"ref": value.name}
    if isinstance(value, (list, tuple)):
        return [_argument(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, (bool, int, float, str)):
        return value
    if value is None or isinstance(value, _DEVICE_WORDS):
        return None
    return str(value).removeprefix("torch.")[:100]
