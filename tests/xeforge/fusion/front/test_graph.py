from dataclasses import replace

import pytest

from xeforge.errors import BadRequest
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph import check_graph

X = Tensor("x", (4, 6), "float32", "input")
W = Tensor("w", (3, 6), "float32", "parameter", path="lin.weight")
MEAN = Tensor("mean", (3,), "float32", "buffer", path="norm.running_mean")
LINEAR = Node("linear", "linear", (Ref("x"), Ref("w"), None), {}, (4, 3), "float32", 7)
STACK = Node("stack", "stack", ((Ref("linear"), Ref("x")), 0), {}, (2, 4, 3), "float32")
GRAPH = Graph((X,), (W,), (LINEAR, STACK), ("stack",), "eval")


def test_a_sound_graph_passes():
    check_graph(GRAPH)
    assert STACK.reads() == ("linear", "x")
    assert set(GRAPH.values()) == {"x", "w", "linear", "stack"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(GRAPH, nodes=(STACK, LINEAR)), "read before it is made"),
        (replace(GRAPH, nodes=(LINEAR, replace(LINEAR, op="relu"))), "taken twice"),
        (replace(GRAPH, nodes=(replace(LINEAR, name="x"), STACK)), "taken twice"),
        (replace(GRAPH, inputs=(replace(X, shape=(0, 6)),)), "holds nothing"),
        (replace(GRAPH, nodes=(replace(LINEAR, shape=(4, -1)), STACK)), "holds nothing"),
        (replace(GRAPH, nodes=(replace(LINEAR, name="a b"),), outputs=("x",)), "no name"),
        (replace(GRAPH, nodes=(replace(LINEAR, op=""),), outputs=("linear",)), "operator"),
        (replace(GRAPH, inputs=(replace(X, dtype=""),)), "dtype"),
        (replace(GRAPH, outputs=()), "no output"),
        (replace(GRAPH, outputs=("y",)), "made by no node"),
        (replace(GRAPH, inputs=(W,), parameters=()), "role"),
        (replace(GRAPH, parameters=(W, replace(X, name="z"))), "role"),
        (replace(GRAPH, parameters=(replace(W, value=2.0),)), "scalar constant"),
        (replace(GRAPH, parameters=(W, MEAN), updated=("mean",)), "updated"),
        (replace(GRAPH, mode="train", updated=("w",)), "updated"),
    ],
)
def test_a_contradiction_is_refused_in_words(wrong, words):
    with pytest.raises(BadRequest, match=words):
        check_graph(wrong)


def test_running_statistics_may_be_updated_in_train_mode():
    check_graph(replace(GRAPH, parameters=(W, MEAN), mode="train", updated=("mean",)))
