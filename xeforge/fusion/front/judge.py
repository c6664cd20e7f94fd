"""Which graphs are compiled: dtypes, sizes, randomness, coverage; every obstacle is listed."""

import math
from collections.abc import Collection
from collections.abc import Iterator

from xeforge.fusion.front.covered import CLASS_TARGETS
from xeforge.fusion.front.covered import COMPARISONS
from xeforge.fusion.front.covered import DROPOUTS
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.exported import Exported
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal

COMPUTED_DTYPES = frozenset({"float16", "bfloat16", "float32", "float64"})
MOST_ELEMENTS = 2**31
_ATTENTION = "scaled_dot_product_attention"
_DROPOUT_POSITION = 4


def judge_tensors(exported: Exported) -> Iterator[Refusal]:
    """Yield what is wrong with the arguments themselves, used or not."""
    for first, second in exported.aliased:
        names = [each.name for each in exported.inputs]
        text = f"{names[first]} and {names[second]} share memory"
        yield Refusal(Reason.ALIASED_INPUTS, text)
    for tensor in exported.inputs:
        yield from _judge_size(tensor.name, tensor.shape, "", None)


def judge_graph(graph: Graph, random: Collection[str]) -> Iterator[Refusal]:
    """Yield what is wrong with the nodes and with the tensors they read.

    Args:
        graph: Live nodes only.
        random: Names of nodes that draw from a generator.
    """
    for tensor in graph.parameters:
        yield from _judge_size(tensor.name, tensor.shape, "", None)
        if tensor.role == "constant" and (tensor.shape or tensor.value is None):
            text = f"{tensor.path or tensor.name} is a tensor outside parameters and buffers"
            yield Refusal(Reason.HIDDEN_CONSTANT, text)
    for node in graph.nodes:
        yield from _judge_node(graph, node, is_random=node.name in random)
    for name in graph.outputs:
        if isinstance(value := graph.values().get(name), Tensor):
            yield from _judge_given(value, "", None)


def _judge_node(graph: Graph, node: Node, *, is_random: bool) -> Iterator[Refusal]:
    if is_random or node.op in DROPOUTS or _has_live_dropout(node):
        yield Refusal(Reason.RANDOM, f"{node.op} draws random numbers", node.op, node.line)
    elif node.op not in FAMILIES:
        text = f"the operator {node.op} is not covered"
        yield Refusal(Reason.NOT_COVERED, text, node.op, node.line)
    elif node.op == "div" and node.kwargs.get("rounding_mode") is not None:
        text = f"div with rounding_mode={node.kwargs['rounding_mode']!r} is not covered"
        yield Refusal(Reason.NOT_COVERED, text, node.op, node.line)
    yield from _judge_size(node.name, node.shape, node.op, node.line)
    if node.dtype not in COMPUTED_DTYPES and not _is_mask(graph, node):
        text = f"the result of {node.op} is {node.dtype}"
        yield Refusal(Reason.DTYPE, text, node.op, node.line)
    given = graph.tensors()
    for position, argument in enumerate((*node.args, *node.kwargs.values())):
        is_target = position == 1 and node.op in CLASS_TARGETS
        for name in _referred(argument):
            if name in given and not (is_target and given[name].dtype == "int64"):
                yield from _judge_given(given[name], node.op, node.line)


def _judge_given(tensor: Tensor, op: str, line: int | None) -> Iterator[Refusal]:
    is_scalar_constant = tensor.role == "constant" and not tensor.shape
    if tensor.dtype not in {*COMPUTED_DTYPES, "bool"} and not is_scalar_constant:
        yield Refusal(Reason.DTYPE, f"{tensor.name} is {tensor.dtype}", op, line)


def _is_mask(graph: Graph, node: Node) -> bool:
    """Whether a boolean result is a comparison, or one that was only laid out anew."""
    if node.dtype != "bool":
        return False
    if node.op in COMPARISONS:
        return True
    values = graph.values()
    sources = [values[name] for name in node.reads() if name in values]
    return bool(sources) and all(each.dtype == "bool" for each in sources)


def _judge_size(name: str, shape: tuple[int, ...], op: str, line: int | None) -> Iterator[Refusal]:
    sizes = list(shape)
    if any(size < 0 for size in shape):
        text = f"a size of {name} depends on values"
        yield Refusal(Reason.DATA_DEPENDENT, text, op, line)
    elif 0 in shape:
        yield Refusal(Reason.EMPTY_TENSOR, f"{name} has the shape {sizes}", op, line)
    elif math.prod(shape) > MOST_ELEMENTS:
        text = f"{name} has {math.prod(shape):,} elements, more than 2**31"
        yield Refusal(Reason.TOO_LARGE, text, op, line)


def _has_live_dropout(node: Node) -> bool:
    if node.op != _ATTENTION:
        return False
    given = node.kwargs.get("dropout_p", 0.0)
    if len(node.args) > _DROPOUT_POSITION:
        given = node.args[_DROPOUT_POSITION]
    return given != 0


def _referred(argument: object) -> Iterator[str]:
    if isinstance(argument, Ref):
        yield argument.name
    elif isinstance(argument, tuple):
        for each in argument:
            yield from _referred(each)
