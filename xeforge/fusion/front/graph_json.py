"""Graphs as JSON and back; what comes back is checked like anything a stranger sends."""

import json
from typing import Any
from typing import get_args

from xeforge.errors import BadRequest
from xeforge.fusion.front.arguments import dump_argument
from xeforge.fusion.front.arguments import load_argument
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Role
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph import check_graph
from xeforge.fusion.front.record import Record


def dump_graph(graph: Graph) -> dict[str, Any]:
    """Turn a graph into dicts, lists, strings, numbers and None."""
    return {
        "mode": graph.mode,
        "inputs": [_dump_tensor(each) for each in graph.inputs],
        "parameters": [_dump_tensor(each) for each in graph.parameters],
        "nodes": [_dump_node(each) for each in graph.nodes],
        "outputs": list(graph.outputs),
        "updated": list(graph.updated),
        "unread": [_dump_tensor(each) for each in graph.unread],
    }


def load_graph(data: object) -> Graph:
    """Turn what `dump_graph` made back into a graph.

    Raises:
        BadRequest: It is none, or it contradicts itself.
    """
    record = Record(data, "graph")
    graph = Graph(
        mode=_load_mode(record.take("mode")),
        inputs=tuple(map(_load_tensor, record.take_all("inputs", dict))),
        parameters=tuple(map(_load_tensor, record.take_all("parameters", dict))),
        nodes=tuple(map(_load_node, record.take_all("nodes", dict))),
        outputs=record.take_all("outputs", str),
        updated=record.take_all("updated", str),
        unread=tuple(map(_load_tensor, record.take_all("unread", dict))),
    )
    record.close()
    check_graph(graph)
    return graph


def dumps_graph(graph: Graph, *, indent: int | None = None) -> str:
    """Write a graph as JSON text; the same graph always gives the same text."""
    return json.dumps(dump_graph(graph), allow_nan=False, indent=indent)


def loads_graph(text: str) -> Graph:
    """Read a graph from the text that `dumps_graph` made.

    Raises:
        BadRequest: It is no JSON, or no graph.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"this is no JSON: {error}") from None
    return load_graph(data)


def _dump_tensor(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "role": tensor.role,
        "value": dump_argument(tensor.value),
        "path": tensor.path,
    }


def _load_tensor(data: object) -> Tensor:
    record = Record(data, "tensor")
    role, value = record.take_exactly("role", str), load_argument(record.take("value"))
    if role not in get_args(Role):
        raise BadRequest(f"{role!r} is no role of a tensor", field="role")
    if not (value is None or isinstance(value, bool | int | float)):
        raise BadRequest("the value of a tensor is a number", field="value")
    tensor = Tensor(
        name=record.take_exactly("name", str),
        shape=record.take_all("shape", int),
        dtype=record.take_exactly("dtype", str),
        role=role,  # type: ignore[arg-type]  # one of them, as checked
        value=value,
        path=record.take_exactly("path", str),
    )
    record.close()
    return tensor


def _dump_node(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "op": node.op,
        "args": [dump_argument(each) for each in node.args],
        "kwargs": {name: dump_argument(each) for name, each in node.kwargs.items()},
        "shape": list(node.shape),
        "dtype": node.dtype,
        "line": node.line,
        "index": node.index,
    }


def _load_node(data: object) -> Node:
    record = Record(data, "node")
    kwargs: dict[str, object] = record.take_exactly("kwargs", dict)
    arguments: list[object] = record.take_exactly("args", list)
    node = Node(
        name=record.take_exactly("name", str),
        op=record.take_exactly("op", str),
        args=tuple(load_argument(each) for each in arguments),
        kwargs={name: load_argument(each) for name, each in kwargs.items()},
        shape=record.take_all("shape", int),
        dtype=record.take_exactly("dtype", str),
        line=record.take_optional("line", int),
        index=record.take_optional("index", int),
    )
    record.close()
    return node


def _load_mode(data: object) -> Mode:
    if data == "train":
        return "train"
    if data == "eval":
        return "eval"
    raise BadRequest(f"{data!r} is neither 'train' nor 'eval'", field="mode")
