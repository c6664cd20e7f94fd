"""Small graphs are graphs: well-formed, of the same operators, and as large as windows need."""

import contextlib
import math

import pytest

from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.random_chains import Chain
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion.algebra.proof import outputs_of
from xeforge.fusion.algebra.proof import random_values
from xeforge.fusion.algebra.shapes import infer
from xeforge.fusion.algebra.shrink import CannotShrink
from xeforge.fusion.algebra.shrink import shrunk
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph import check_graph


def check(graph):
    small = shrunk(graph)
    check_graph(small)
    values = small.values()
    assert ops(small) == ops(graph)
    for before, after in zip(graph.nodes, small.nodes, strict=True):
        if after.op not in {"chunk", "split"}:
            found = infer(after.op, bound(after), lambda arg: values[arg.name].shape)
            assert found == after.shape
        assert [size == 1 for size in before.shape] == [size == 1 for size in after.shape]
    outputs_of(small, random_values(small, 0))
    return small


def test_graphs_of_any_operators_become_small_or_say_why_not():
    count = 0
    for seed in range(40):
        grower = Grower(seed, 8)
        with contextlib.suppress(CannotShrink):
            check(grower.recorder.graph(*grower.outputs()))
            count += 1
    assert count > 30


@pytest.mark.parametrize("seed", range(40))
def test_random_chains(seed):
    chain = Chain(seed)
    check(chain.graph(*chain.outputs()))


def large(op, shape, *args, weights=(), out=None, **kwargs):
    """Return a graph of one large operator."""
    names = [f"w{place}" for place in range(len(weights))]
    parameters = tuple(
        Tensor(name, each, "float32", "parameter")
        for name, each in zip(names, weights, strict=True)
    )
    refs = tuple(Ref(each) for each in names)
    node = Node("y", op, (Ref("x"), *refs, *args), kwargs, out or shape, "float32")
    return Graph((Tensor("x", shape, "float32", "input"),), parameters, (node,), ("y",), "eval")


def sizes(graph):
    return {each.name: each.shape for each in (*graph.inputs, *graph.parameters, *graph.nodes)}


def test_linear_layers_become_small():
    graph = large("linear", (1024, 8192), weights=((4096, 8192), (4096,)), out=(1024, 4096))
    found = sizes(check(graph))
    assert max(max(shape) for shape in found.values()) <= 4


def test_groups_become_two():
    shape = (64, 512, 32, 32)
    small = check(large("group_norm", shape, 32, weights=()))
    assert bound(small.nodes[0])["num_groups"] == 2
    assert small.nodes[0].shape[1] % 2 == 0
    each_alone = check(large("group_norm", shape, 512))
    assert bound(each_alone.nodes[0])["num_groups"] == each_alone.nodes[0].shape[1]
    graph = large(
        "conv2d",
        (8, 64, 56, 56),
        None,
        (1, 1),
        (1, 1),
        (1, 1),
        64,
        weights=((128, 1, 3, 3),),
        out=(8, 128, 56, 56),
    )
    assert bound(check(graph).nodes[0])["groups"] == 2


def test_kernels_stay_and_axes_grow_until_they_fit():
    graph = large(
        "conv2d",
        (8, 64, 224, 224),
        None,
        (4, 4),
        (2, 2),
        weights=((96, 64, 11, 11),),
        out=(8, 96, 55, 55),
    )
    small = check(graph)
    assert sizes(small)["w0"][2:] == (11, 11)
    assert min(small.nodes[0].shape[2:]) >= 2


def test_a_second_input_follows_a_computed_axis():
    conv = large(
        "conv_transpose1d", (8, 64, 100), None, (2,), weights=((64, 32, 4),), out=(8, 32, 202)
    )
    other = Tensor("other", (8, 32, 202), "float32", "input")
    add = Node("z", "add", (Ref("other"), Ref("y")), {}, (8, 32, 202), "float32")
    graph = Graph((*conv.inputs, other), conv.parameters, (*conv.nodes, add), ("z",), "eval")
    small = check(graph)
    assert sizes(small)["other"] == sizes(small)["y"]


def test_heads_are_split_and_joined_again():
    case = Case()
    x = case.input(2, 3, 24)
    split = case.op("permute", case.op("view", x, [2, 3, 4, 6]), [0, 2, 1, 3])
    joined = case.op("reshape", case.op("permute", split, [0, 2, 1, 3]), [2, 3, 24])
    small = check(case.graph(case.op("add", joined, x)))
    assert math.prod(small.inputs[0].shape) < 2 * 3 * 24


def test_stretches_and_chunks_keep_their_proportions():
    case = Case()
    x = case.input(8, 12)
    first = case.op("slice", x, 1, 3, 9)
    second = case.op("narrow", x, 0, 4, 4)
    third = case.op("select", x, 1, 7)
    fourth = case.op("chunk", x, 2, 1, index=1)
    fifth = case.op("split", x, 4, 0, index=1)
    check(case.graph(first, second, third, fourth, fifth))


def test_what_is_not_followed_is_named():
    graph = large("prelu", (4, 8, 3), weights=((8,),))
    with pytest.raises(CannotShrink, match="prelu"):
        shrunk(graph)
