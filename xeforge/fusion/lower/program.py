"""From a captured graph to a program, operator by operator."""

from dataclasses import replace

from xeforge.domain.dtype import DTYPES
from xeforge.fusion import wellformed
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Role
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.operators import OPERATORS
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import whole

NAME = "lower"


def lower(graph: Graph) -> Program:
    """Return a well-formed program that computes the graph's outputs.

    Outputs that are views, tensors of the graph or named twice are copied into arrays of their
    own: a program aliases nothing.

    Raises:
        CannotLower: An operator, or a use of it, has no affine form here.
    """
    draft = Draft()
    draft.reserve([node.name for node in graph.nodes])
    for tensor in (*graph.inputs, *graph.parameters):
        draft.values[tensor.name] = _given(draft, tensor)
    for node in graph.nodes:
        draft.values[node.name] = _lowered(draft, node)
    outputs = tuple(
        _output(draft, name, f"out{place}", graph.outputs[:place])
        for place, name in enumerate(graph.outputs)
    )
    arrays = tuple(
        replace(each, role="output") if each.name in outputs else each for each in draft.arrays
    )
    notes = tuple(
        f"{name} is updated by the module, and not by this program" for name in graph.updated
    )
    inputs = tuple(each.name for each in graph.inputs)
    program = Program(arrays, tuple(draft.statements), inputs, outputs, notes, (NAME,))
    wellformed.check(program, made_by=NAME)
    return program


def _given(draft: Draft, tensor: Tensor) -> Value:
    role: Role = "input" if tensor.role == "input" else "parameter"
    if tensor.value is not None:
        return Value((), tensor.dtype, "", (), constant=tensor.value)
    return draft.given(tensor.name, tensor.shape, tensor.dtype, role)


def _lowered(draft: Draft, node: Node) -> Value:
    found = OPERATORS.get(node.op)
    if found is None:
        raise refuse(node, "has no affine form here")
    if node.dtype not in DTYPES or DTYPES[node.dtype].kind == "int":
        raise refuse(node, f"{node.dtype} is not computed with", Reason.DTYPE)
    value = found(draft, node)
    if value.shape != node.shape:
        raise refuse(node, f"gives {list(value.shape)}, the graph says {list(node.shape)}")
    return value


def _output(draft: Draft, name: str, own: str, earlier: tuple[str, ...]) -> str:
    """Return the array that holds an output, written whole by a statement of its own."""
    value = draft.values[name]
    is_written = any(stmt.output.array == name for stmt in draft.statements)
    is_whole = value == whole(name, value.shape, value.dtype)
    if is_written and is_whole and name not in earlier:
        return name
    taken = {each.name for each in draft.arrays} | set(draft.values)
    while own in taken:
        own += "_"
    draft.pointwise(own, value.shape, value.dtype, value.at)
    return own
