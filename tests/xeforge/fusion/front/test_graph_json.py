import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xeforge.errors import BadRequest
from xeforge.fusion.front.arguments import dump_argument
from xeforge.fusion.front.arguments import load_argument
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph_json import dump_graph
from xeforge.fusion.front.graph_json import dumps_graph
from xeforge.fusion.front.graph_json import load_graph
from xeforge.fusion.front.graph_json import loads_graph

X = Tensor("x", (4, 6), "float16", "input")
HALF = Tensor("half", (), "float32", "constant", value=0.5, path="lifted")
FLAG = Tensor("flag", (), "bool", "constant", value=True)
KEPT = Tensor("kept", (2,), "int64", "buffer", path="counts")
FILL = Node("fill", "masked_fill", (Ref("x"), Ref("x"), -math.inf), {}, (4, 6), "float16", 3)
MOST = Node("most", "max", (Ref("fill"), 1, True), {"odd": (None, "word")}, (4, 1), "float16", 4, 0)
GRAPH = Graph((X,), (HALF, FLAG), (FILL, MOST), ("most", "x"), "train", (), (KEPT,))

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ARGUMENTS = st.recursive(
    PLAIN | st.builds(Ref, st.text()),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@given(ARGUMENTS)
def test_every_argument_comes_back_as_it_was(argument):
    text = json.dumps(dump_argument(argument), allow_nan=False)
    back = load_argument(json.loads(text))
    assert back == argument
    assert type(back) is type(argument)


def test_a_graph_comes_back_as_it_was():
    text = dumps_graph(GRAPH)
    assert loads_graph(text) == GRAPH
    assert dumps_graph(loads_graph(text)) == text


def _changed(path, value):
    data = dump_graph(GRAPH)
    place = data
    for step in path[:-1]:
        place = place[step]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["mode"], "both"),
        (["mode"], KeyError),
        (["surplus"], 1),
        (["outputs"], "most"),
        (["outputs"], [3]),
        (["inputs", 0, "shape"], [4, True]),
        (["inputs", 0, "shape"], [4.0, 6]),
        (["inputs", 0, "role"], "guest"),
        (["inputs", 0, "surplus"], 1),
        (["parameters", 0, "value"], "0.5"),
        (["unread", 0, "role"], "guest"),
        (["nodes", 0, "args", 0], {"ref": "nobody"}),
        (["nodes", 0, "args", 0], {"ref": "x", "more": 1}),
        (["nodes", 0, "args", 2], {"float": "big"}),
        (["nodes", 0, "line"], "3"),
        (["nodes", 0, "kwargs"], []),
        (["nodes", 0], 7),
    ],
)
def test_what_is_no_graph_is_refused(path, value):
    with pytest.raises(BadRequest):
        load_graph(_changed(path, value))


def test_text_that_is_no_json_is_refused():
    with pytest.raises(BadRequest, match="no JSON"):
        loads_graph("{")


def test_nesting_is_bounded():
    deep = []
    for _ in range(20):
        deep = [deep]
    with pytest.raises(BadRequest, match="deeply"):
        load_argument(deep)
