"""Inferred shapes against those that Torch gave."""

import pytest

from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.random_chains import Chain
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion.algebra.shapes import NoShape
from xeforge.fusion.algebra.shapes import broadcast
from xeforge.fusion.algebra.shapes import infer
from xeforge.fusion.algebra.signature import bind
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.algebra.signature import spread


def check(graph):
    values = graph.values()
    for node in graph.nodes:
        found = infer(node.op, bound(node), lambda arg: values[arg.name].shape)
        assert found == node.shape, node


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed):
    grower = Grower(seed, 12)
    check(grower.recorder.graph(*grower.outputs()))
    chain = Chain(seed)
    check(chain.graph(*chain.outputs()))


def test_operators_that_these_do_not_have():
    case = Case()
    x = case.input(2, 6, 9)
    made = [
        case.op("flatten", x, 1),
        case.op("flatten", x),
        case.op("unflatten", x, 1, [2, -1]),
        case.op("squeeze", case.input(2, 1, 3, 1)),
        case.op("squeeze", case.input(2, 1, 3, 1), 1),
        case.op("narrow", x, 2, 3, 4),
        case.op("select", x, 1, -1),
        case.op("pad", x, [1, 2, 0, 3]),
        case.op("expand", case.input(6, 1), [2, -1, 4]),
        case.op("adaptive_avg_pool1d", x, [3]),
        case.op("avg_pool1d", x, [4], [3], [1], True),
        case.op("max_pool1d", x, [2], [2], [0], [3], True),
        case.op("conv1d", x, case.parameter(4, 3, 2), None, [1], [0], [2], 2),
        case.op("addmm", case.input(4), case.input(3, 2), case.input(2, 4)),
        case.op("mv", case.input(3, 2), case.input(2)),
    ]
    check(case.graph(*made))


def test_what_does_not_fit_has_no_shape():
    shapes = {"a": (3, 4), "b": (5, 3), "c": (2, 2, 2)}
    from xeforge.fusion.front.graph import Ref

    def of(arg):
        return shapes[arg.name]

    for op, args in (
        ("linear", (Ref("a"), Ref("b"))),
        ("add", (Ref("a"), Ref("b"))),
        ("view", (Ref("a"), (5, 2))),
        ("select", (Ref("a"), 0, 7)),
        ("conv1d", (Ref("c"), Ref("c"), None, (1,), "valid", (5,))),
        ("avg_pool1d", (Ref("c"), (9,))),
        ("cat", ((Ref("a"), Ref("b")), 0)),
        ("narrow", (Ref("a"), 1, 3, 4)),
        ("cross_entropy_loss", (Ref("a"), Ref("b"))),
    ):
        with pytest.raises(NoShape):
            infer(op, bind(op, args, {}), of)


def test_broadcasting():
    assert broadcast([(3, 1), (4,), ()]) == (3, 4)
    with pytest.raises(NoShape):
        broadcast([(3,), (4,)])


def test_lists_of_integers():
    assert spread((2,), 3, 1) == (2, 2, 2)
    assert spread(None, 2, 1) == (1, 1)
    assert spread(4, 2, 1) == (4, 4)
    assert integers(3) == (3,)
    with pytest.raises(ValueError, match="no list"):
        integers((1, 0.5))
