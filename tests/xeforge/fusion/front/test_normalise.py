"""What `torch.export` says, written by hand: aliases, writes, several results."""

import pytest

from xeforge.errors import BadRequest
from xeforge.fusion.front.exported import Call
from xeforge.fusion.front.exported import Exported
from xeforge.fusion.front.exported import Result
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.normalise import normalise
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refused

X = Tensor("x", (4, 6), "float32", "input")
R = Result((4, 6), "float32")


def call(name, op, *args, results=(R,), **more):
    given = tuple(Ref(each) if isinstance(each, str) else each for each in args)
    return Call(name, op, more.pop("overload", ""), given, {}, results, **more)


def graph_of(*calls, outputs=None, mode="eval", tensors=(), **more):
    outputs = outputs or (calls[-1].name,)
    return normalise(Exported((X,), tensors, calls, outputs, **more), mode)


def reasons(found):
    assert isinstance(found, Refused)
    return [each.reason for each in found.refusals]


def test_only_what_an_output_needs_is_kept():
    found = graph_of(call("a", "relu", "x"), call("b", "cumsum", "x", 1), outputs=("a",))
    assert [each.name for each in found.nodes] == ["a"]


def test_state_that_nothing_reads_is_remembered_apart():
    read = Tensor("w", (4, 6), "float32", "parameter", path="a.w")
    unread = Tensor("u", (2,), "float32", "buffer", path="a.u")
    lifted = Tensor("c", (), "float32", "constant", value=1.0)
    found = graph_of(call("a", "add", "x", "w"), tensors=(read, unread, lifted))
    assert (found.parameters, found.unread) == ((read,), (unread,))


@pytest.mark.parametrize("reader", ["relu", "clone", "add"])
def test_what_is_read_after_a_write_to_an_input_hides_no_refusal(reader):
    written = call("w", "mul_", "x", 2, writes=("x",), views=("x",), line=4)
    more = (1,) if reader == "add" else ()
    found = graph_of(written, call("r", reader, "w", *more))
    assert reasons(found) == [Reason.UPDATED_IN_PLACE]
    assert found.refusals[0].line == 4


def test_an_output_may_be_an_input():
    found = graph_of(call("a", "clone", "x"))
    assert (found.nodes, found.outputs) == ((), ("x",))


def test_a_copy_does_not_see_a_write_and_a_detached_value_does():
    calls = (
        call("a", "relu", "x"),
        call("kept", "clone", "a"),
        call("seen", "detach", "a", views=("a",)),
        call("b", "mul_", "a", 2.0, writes=("a",), views=()),
        call("c", "add", "kept", "seen"),
    )
    found = graph_of(*calls)
    assert isinstance(found, Graph)
    assert [each.op for each in found.nodes] == ["relu", "mul", "add"]
    assert found.nodes[2].args == (Ref("a"), Ref("b"))


@pytest.mark.parametrize("view", ["view", "contiguous", "select", "einsum"])
def test_a_view_is_not_read_after_its_memory_was_changed(view):
    arguments = ("ij->ji", (Ref("a"),)) if view == "einsum" else (Ref("a"),)
    seen = Call("seen", view, "", arguments, {}, (R,), views=() if view == "einsum" else ("a",))
    calls = (
        call("a", "relu", "x"),
        seen,
        call("b", "mul_", "a", 2.0, writes=("a",)),
        call("c", "add", "seen", "b", line=9),
    )
    found = graph_of(*calls)
    assert reasons(found) == [Reason.UPDATED_IN_PLACE]
    assert found.refusals[0].line == 9


def test_what_a_view_changes_is_not_read_under_the_old_name():
    calls = (
        call("a", "relu", "x"),
        call("row", "select", "a", 0, 0, views=("a",), results=(Result((6,), "float32"),)),
        call("b", "zero_", "row", writes=("row",), results=(Result((6,), "float32"),)),
    )
    assert Reason.UPDATED_IN_PLACE in reasons(graph_of(*calls, outputs=("a",)))


@pytest.mark.parametrize("through", ["x", "seen"])
def test_an_input_is_never_changed(through):
    calls = (
        call("seen", "view", "x", (4, 6), views=("x",)),
        call("b", "mul_", through, 2.0, writes=(through,), line=4),
    )
    found = graph_of(*calls)
    assert reasons(found) == [Reason.UPDATED_IN_PLACE]
    assert (found.refusals[0].operator, found.refusals[0].line) == ("mul_", 4)


def test_an_idle_dropout_in_place_gives_its_argument_back():
    calls = (
        call("a", "relu", "x"),
        call("b", "dropout_", "a", 0.5, False, writes=("a",), is_random=True),
        call("c", "neg", "b"),
    )
    assert [each.op for each in graph_of(*calls).nodes] == ["relu", "neg"]


def test_a_dropout_that_drops_nothing_is_idle_in_train_mode():
    found = graph_of(call("a", "dropout", "x", 0.0, True, is_random=True), mode="train")
    assert found.nodes == ()


def test_each_used_result_of_an_operator_is_a_node_of_its_own():
    pair = (Result((4,), "float32"), Result((4,), "int64"))
    calls = (
        call("both", "max", "x", 1, overload="dim", results=pair, is_several=True),
        call("most", "getitem", "both", 0, results=pair[:1]),
        call("where", "getitem", "both", 1, results=pair[1:]),
    )
    found = graph_of(*calls, outputs=("most",))
    assert [(each.op, each.index, each.args) for each in found.nodes] == [("max", 0, (Ref("x"), 1))]
    assert reasons(graph_of(*calls, outputs=("where",))) == [Reason.DTYPE]


def test_a_piece_of_a_split_lies_in_the_memory_of_the_whole():
    half = Result((4, 3), "float32")
    calls = (
        call("a", "relu", "x"),
        call("halves", "split", "a", 3, 1, results=(half, half), is_several=True, views=("a",)),
        call("left", "getitem", "halves", 0, results=(half,)),
        call("b", "neg", "left", results=(half,)),
    )
    assert [(each.op, each.index) for each in graph_of(*calls).nodes][1] == ("split", 0)
    written = call("c", "zero_", "left", writes=("left",), results=(half,))
    assert Reason.UPDATED_IN_PLACE in reasons(graph_of(*calls, written, outputs=("a",)))


def test_max_of_two_tensors_is_called_maximum():
    assert graph_of(call("a", "max", "x", "x", overload="other")).nodes[0].op == "maximum"


def test_all_obstacles_are_listed_in_the_order_of_the_code():
    calls = (
        call("a", "cumsum", "x", 1, line=5),
        call("b", "rand_like", "a", is_random=True, line=3),
        call("c", "add", "a", "b", line=6),
    )
    found = graph_of(*calls)
    assert [(each.reason, each.line) for each in found.refusals] == [
        (Reason.RANDOM, 3),
        (Reason.NOT_COVERED, 5),
    ]


def test_shared_inputs_are_refused_by_name():
    both = Exported((X, Tensor("y", (6,), "float32", "input")), (), (), ("x",), ((0, 1),))
    found = normalise(both, "eval")
    assert reasons(found) == [Reason.ALIASED_INPUTS]
    assert found.refusals[0].message == "x and y share memory"


def test_only_a_batch_norm_may_update_running_statistics():
    mean = Tensor("m", (6,), "float32", "buffer", path="n.running_mean")
    var = Tensor("v", (6,), "float32", "buffer", path="n.running_var")
    arguments = ("x", None, None, "m", "v", True, 0.1, 1e-5, True)
    found = graph_of(call("a", "batch_norm", *arguments), tensors=(mean, var), mode="train")
    assert found.updated == ("m", "v")
    other = graph_of(call("a", "instance_norm", *arguments), tensors=(mean, var), mode="train")
    assert reasons(other) == [Reason.UPDATED_IN_PLACE]


def test_attention_with_dropout_is_random():
    attention = "scaled_dot_product_attention"
    quiet = graph_of(call("a", attention, "x", "x", "x", None, 0.0, is_random=True))
    assert [each.op for each in quiet.nodes] == [attention]
    loud = graph_of(call("a", attention, "x", "x", "x", None, 0.1, is_random=True))
    assert reasons(loud) == [Reason.RANDOM]


@pytest.mark.parametrize(
    "calls",
    [
        (call("a", "relu", "nobody"),),
        (call("a", "getitem", "x", 0),),
        (call("x", "relu", "x"),),
        (call("a", "permute", "x", (0, 0)),),
        (call("a", "transpose", "x", 0, 5),),
    ],
)
def test_what_no_exporter_says_is_not_believed(calls):
    with pytest.raises(BadRequest):
        graph_of(*calls)
