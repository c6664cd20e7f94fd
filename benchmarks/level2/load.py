"""Reads `graphs.yaml` and writes each graph as a PyTorch file with a class Model.

The text is the module: one line per operator, so that a capture can name the line. It stands alone
like any reference a user sends. `train` in a file's text is the module's own mode.
"""

import ast
import types
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

GRAPHS = Path(__file__).parent / "graphs.yaml"
_TRAINING = "training"
_HEAD = '''"""Graph {id}: {operators}."""

import torch

aten = torch.ops.aten


class Model(torch.nn.Module):
    """The operators in order."""

    def __init__(self):
        super().__init__()
'''


@dataclass(frozen=True, slots=True)
class OperatorGraph:
    """One entry of the file.

    Attributes:
        id: Number in the collection.
        inputs: Shape of each input, in order.
        parameters, buffers: Shape and start of each, in order.
        operators: ``name = operator(arguments)``, in order.
        returns: Names.
    """

    id: int
    inputs: Mapping[str, tuple[int, ...]]
    parameters: Mapping[str, tuple[tuple[int, ...], str | float]]
    buffers: Mapping[str, tuple[tuple[int, ...], str | float]]
    operators: tuple[str, ...]
    returns: tuple[str, ...]


def load_graphs(path: Path = GRAPHS) -> tuple[OperatorGraph, ...]:
    """Return all graphs in the order of the file."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))["graphs"]
    return tuple(
        OperatorGraph(
            id=entry["id"],
            inputs={name: tuple(shape) for name, shape in entry["inputs"].items()},
            parameters=_tensors(entry.get("parameters", {})),
            buffers=_tensors(entry.get("buffers", {})),
            operators=tuple(entry["operators"]),
            returns=tuple(entry["returns"]),
        )
        for entry in entries
    )


def _tensors(
    entries: Mapping[str, Mapping[str, Any]],
) -> dict[str, tuple[tuple[int, ...], str | float]]:
    return {name: (tuple(each["shape"]), each["init"]) for name, each in entries.items()}


def source(graph: OperatorGraph) -> str:
    """Return the text of a reference file: Model, get_inputs, get_init_inputs."""
    names = [line.partition(" = ")[2].partition("(")[0] for line in graph.operators]
    calls = [name for name in names if name.isidentifier()]
    lines = [_HEAD.format(id=graph.id, operators=", ".join(calls))]
    lines += [
        f"        self.{name} = torch.nn.Parameter({_start(shape, init)})\n"
        for name, (shape, init) in graph.parameters.items()
    ]
    lines += [
        f'        self.register_buffer("{name}", {_start(shape, init)})\n'
        for name, (shape, init) in graph.buffers.items()
    ]
    lines.append(f"\n    def forward(self, {', '.join(graph.inputs)}):\n")
    own = {*graph.parameters, *graph.buffers, _TRAINING}
    lines += [f"        {_line(each, own)}\n" for each in graph.operators]
    lines.append(f"        return {', '.join(graph.returns)}\n")
    drawn = ", ".join(f"torch.rand({list(shape)})" for shape in graph.inputs.values())
    lines.append(f"\n\ndef get_inputs():\n    return [{drawn}]\n")
    lines.append("\n\ndef get_init_inputs():\n    return []\n")
    return "".join(lines)


def _start(shape: Sequence[int], init: str | float) -> str:
    """Return the expression of a tensor's first values."""
    sizes = list(shape)
    if not isinstance(init, str):
        return f"torch.full({sizes}, {float(init)})"
    kind, _, factor = init.partition("*")
    scale = f" * {factor}" if factor else ""
    if kind == "normal":
        return f"torch.randn({sizes}){scale}"
    if kind == "uniform":
        return f"(torch.rand({sizes}) * 2 - 1){scale}"
    raise ValueError(f"unknown start {init!r}")


class _Own(ast.NodeTransformer):
    """Puts ``self.`` before what belongs to the module and ``aten.`` before operators."""

    def __init__(self, own: set[str]) -> None:
        self._own = own

    def visit_Call(self, node: ast.Call) -> ast.Call:
        assert isinstance(node.func, ast.Name)  # noqa: S101 - the file holds plain calls only
        home = "torch" if node.func.id == "tensor" else "aten"
        func = ast.Attribute(ast.Name(home, ast.Load()), node.func.id, ast.Load())
        return ast.Call(func, [self.visit(each) for each in node.args], node.keywords)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._own:
            return node
        return ast.Attribute(ast.Name("self", ast.Load()), node.id, node.ctx)


def _line(text: str, own: set[str]) -> str:
    name, _, expression = text.partition(" = ")
    tree = _Own(own).visit(ast.parse(expression, mode="eval"))
    return f"{name} = {ast.unparse(ast.fix_missing_locations(tree))}"


def module(graph: OperatorGraph) -> Any:
    """Return the graph as a ``torch.nn.Module`` with freshly drawn parameters."""
    made = types.ModuleType(f"graph_{graph.id}")
    exec(compile(source(graph), f"graph_{graph.id}.py", "exec"), vars(made))  # noqa: S102 - our own text
    return made.Model()
