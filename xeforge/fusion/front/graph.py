"""A captured module: whole ATen operators in order, with every shape and dtype known.

A graph is pure data; whoever holds one needs no Torch. Operators that answer several tensors
(``max`` over a dimension, ``var_mean``) appear once per result that is used, with `Node.index`
saying which one. Nothing below an operator of `xeforge.fusion.front.covered` is ever decomposed.
"""

import math
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Literal
from typing import TypeAlias
from typing import Union

from xeforge.errors import BadRequest

Mode: TypeAlias = Literal["train", "eval"]
Role: TypeAlias = Literal["input", "parameter", "buffer", "constant"]


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of an earlier node or of a tensor of the graph.

    Attributes:
        name: Of a `Node` or a `Tensor`.
    """

    name: str


Arg: TypeAlias = Union[Ref, bool, int, float, str, tuple["Arg", ...], None]
"""One argument of an operator; dtypes are their Torch names (``"float32"``)."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a graph is given.

    Attributes:
        name: Unique in the graph. Inputs have the names of ``forward``'s arguments, the others
            are derived from their path in the module (``p_linear_weight``).
        shape: Sizes in elements; ``()`` is a scalar tensor.
        dtype: Torch name, e.g. ``"float16"``.
        role: ``constant`` is a tensor that the module's code makes of a literal.
        value: Of a scalar constant; None for everything else: parameters are read at every call.
        path: Dotted name in the module's ``state_dict``; empty for inputs and constants.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: Role
    value: bool | int | float | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One operator, or one result of an operator that has several.

    Attributes:
        name: Unique in the graph.
        op: ATen name without overload: ``"linear"``, ``"conv2d"``, ``"sum"``.
        args: Positional arguments as the operator's schema orders them; defaults that nobody
            gave are left out.
        kwargs: Given by name.
        shape: Of the result.
        dtype: Of the result.
        line: One-based line of the user's file that asked for it; None where not known.
        index: Which result, where the operator has several; None where it has one.
    """

    name: str
    op: str
    args: tuple[Arg, ...]
    kwargs: Mapping[str, Arg]
    shape: tuple[int, ...]
    dtype: str
    line: int | None = None
    index: int | None = None

    def reads(self) -> tuple[str, ...]:
        """Return the names it refers to, in the order of its arguments, repeats included."""
        return tuple(_names((*self.args, *self.kwargs.values())))


@dataclass(frozen=True, slots=True)
class Graph:
    """A module at fixed shapes, in one mode.

    Attributes:
        inputs: In the order of ``forward``'s arguments; unused ones included.
        parameters: Parameters, buffers and constants that some node reads.
        nodes: In an order in which each value is made before it is read.
        outputs: Names of nodes or tensors, in the order of what ``forward`` returns.
        mode: Whether the module was in train mode (batch statistics) or in eval mode.
        updated: Buffers that the module updates beside its outputs; only the running statistics
            of batch norms in train mode. Who computes the graph must update them as well.
        unread: Parameters and buffers of the module that no node reads; who stands in for the
            module has them too, so that its state loads.
    """

    inputs: tuple[Tensor, ...]
    parameters: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    mode: Mode
    updated: tuple[str, ...] = field(default=())
    unread: tuple[Tensor, ...] = field(default=())

    def tensors(self) -> Mapping[str, Tensor]:
        """Return what the graph is given, by name."""
        return {each.name: each for each in (*self.inputs, *self.parameters)}

    def values(self) -> Mapping[str, Tensor | Node]:
        """Return everything an argument may refer to, by name."""
        return {**self.tensors(), **{each.name: each for each in self.nodes}}


def check_graph(graph: Graph) -> None:
    """Refuse a graph that contradicts itself.

    Raises:
        BadRequest: A name is taken twice, empty or used before it is made; a size is not
            positive; an output does not exist; a value stands where none may. `field` names
            the place.
    """
    known: set[str] = set()
    for tensor in (*graph.inputs, *graph.parameters):
        _check_value(tensor, known)
        _check_role(tensor, is_input=tensor in graph.inputs)
        known.add(tensor.name)
    buffers = {each.name for each in graph.parameters if each.role == "buffer"}
    for node in graph.nodes:
        _check_value(node, known)
        for name in node.reads():
            if name not in known:
                raise BadRequest(f"{name!r} is read before it is made", field=node.name)
        known.add(node.name)
    if not graph.outputs:
        raise BadRequest("the graph has no output", field="outputs")
    for name in graph.outputs:
        if name not in known:
            raise BadRequest(f"the output {name!r} is made by no node", field="outputs")
    for name in graph.updated:
        if name not in buffers or graph.mode != "train":
            raise BadRequest(
                f"{name!r} is updated, but is no buffer in train mode", field="updated"
            )


def element_count(value: Tensor | Node) -> int:
    """Return how many elements a value has."""
    return math.prod(value.shape)


def _check_value(value: Tensor | Node, known: set[str]) -> None:
    if not value.name.isidentifier():
        raise BadRequest(f"{value.name!r} is no name", field=value.name or "name")
    if value.name in known:
        raise BadRequest("the name is taken twice", field=value.name)
    if any(size <= 0 for size in value.shape):
        raise BadRequest(f"the shape {list(value.shape)} holds nothing", field=value.name)
    if not value.dtype:
        raise BadRequest("the dtype is missing", field=value.name)
    if isinstance(value, Node) and not value.op:
        raise BadRequest("the operator is missing", field=value.name)


def _check_role(tensor: Tensor, *, is_input: bool) -> None:
    if is_input != (tensor.role == "input"):
        raise BadRequest(f"the role {tensor.role!r} does not belong here", field=tensor.name)
    is_scalar_constant = tensor.role == "constant" and not tensor.shape
    if tensor.value is not None and not is_scalar_constant:
        raise BadRequest("only a scalar constant has a value", field=tensor.name)


def _names(values: tuple[Arg, ...]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Ref):
            yield value.name
        elif isinstance(value, tuple):
            yield from _names(value)
