"""What is lowered, what is not, and how that is said."""

import pytest

from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.lower.arguments import CannotLower
from xeforge.fusion.lower.operators import OPERATORS
from xeforge.fusion.lower.program import lower

NOT_LOWERED = {
    *("bilinear", "cosine_similarity", "einsum", "hardshrink", "linalg_vector_norm", "norm"),
    *("outer", "prelu", "round", "softshrink"),
}
X = Tensor("x", (3, 4), "float32", "input")


def graph(op, *args, shape=(3, 4), dtype="float32", index=None, inputs=(X,), **kwargs):
    node = Node("y", op, (Ref("x"), *args), kwargs, shape, dtype, line=12, index=index)
    return Graph(inputs, (), (node,), ("y",), "eval")


def test_all_captured_operators_are_lowered_but_these():
    assert set(FAMILIES) - set(OPERATORS) == NOT_LOWERED
    assert set(OPERATORS) - set(FAMILIES) == set()


@pytest.mark.parametrize("op", sorted(NOT_LOWERED))
def test_an_operator_that_is_not_lowered_is_refused_with_its_line(op):
    with pytest.raises(CannotLower) as caught:
        lower(graph(op))
    assert caught.value.refusal.reason == Reason.NOT_COVERED
    assert (caught.value.refusal.operator, caught.value.refusal.line) == (op, 12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (graph("max", 1, shape=(3,), dtype="int64", index=1), "int64"),
        (graph("max", 1, shape=(3,), index=1), "positions"),
        (graph("div", 2.0, rounding_mode="floor"), "rounding"),
        (graph("sum", (5,), shape=(3,)), "dimension"),
        (graph("sum", (1,), shape=(4,)), "the graph says"),
        (graph("relu", True, 3), "arguments"),
        (graph("softmax", "one"), "integers"),
        (graph("view", (3, 5), shape=(3, 5)), "other elements"),
        (graph("pad", (1, 1), "reflect", shape=(3, 6)), "reflect"),
        (graph("where", 1.0, 2.0), "boolean"),
        (graph("add", None), "neither tensor nor number"),
        (graph("to", "int32", dtype="int32"), "int32"),
    ],
)
def test_uses_that_are_not_lowered_are_refused(given, words):
    with pytest.raises(CannotLower, match=words):
        lower(given)


def test_buffers_that_the_module_updates_are_noted():
    given = graph("relu")
    buffer = Tensor("b_mean", (4,), "float32", "buffer")
    node = Node("z", "add", (Ref("y"), Ref("b_mean")), {}, (3, 4), "float32")
    nodes = (*given.nodes, node)
    program = lower(Graph((X,), (buffer,), nodes, ("z",), "train", updated=("b_mean",)))
    assert program.notes == ("b_mean is updated by the module, and not by this program",)


def test_steps_never_take_the_name_of_another_node():
    first = Node("y", "softmax", (Ref("x"), 1), {}, (3, 4), "float32")
    second = Node("y_max", "relu", (Ref("y"),), {}, (3, 4), "float32")
    program = lower(Graph((X,), (), (first, second), ("y_max",), "eval"))
    names = [each.name for each in program.statements]
    assert names == ["y_max_", "y_sum", "y", "y_max"]
