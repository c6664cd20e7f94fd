"""Views become indices; joins and paddings become one statement."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("view", ([4, 6],)),
        ("view", ([3, 8],)),
        ("view", ([2, 2, 2, 3],)),
        ("reshape", ([24],)),
        ("flatten", (1,)),
        ("unsqueeze", (1,)),
        ("permute", ([2, 0, 1],)),
        ("slice", (2, 1, 4, 2)),
        ("slice", (1, -2)),
        ("narrow", (1, 1, 2)),
        ("select", (1, 2)),
        ("expand", ([5, 2, 3, 4],)),
    ],
)
def test_views_are_read_through_without_a_statement(op, args):
    recorder = Recorder()
    x = recorder.input(2, 3, 4)
    aten = {"slice": "slice", "select": "select"}.get(op)
    seen = recorder.op(op, x, *args, aten=aten)
    program = check(recorder, recorder.op("exp", seen))
    assert len(program.statements) == 1


def test_a_view_of_a_view_back_to_the_first_shape_leaves_no_division():
    recorder = Recorder()
    x = recorder.input(4, 6, 5)
    flat = recorder.op("view", x, [24, 5])
    back = recorder.op("view", recorder.op("view", flat, [120]), [4, 6, 5])
    program = check(recorder, recorder.op("neg", back))
    assert [str(each) for each in program.statements[0].reads()[0].access.index] == ["i", "j", "k"]


def test_squeeze_and_expand_broadcast():
    recorder = Recorder()
    x, y = recorder.input(3, 1, 2), recorder.input(3, 4, 2)
    wide = recorder.op("expand", x, [3, 4, -1])
    check(recorder, recorder.op("add", wide, y), recorder.op("squeeze", x, 1, aten="squeeze"))


@pytest.mark.parametrize("op", ["chunk", "split"])
def test_pieces_of_a_dimension(op):
    recorder = Recorder()
    x = recorder.input(3, 7)
    pieces = [recorder.op(op, x, 3, 1, index=which) for which in range(3)]
    check(recorder, *(recorder.op("exp", each) for each in pieces))


def test_pieces_of_given_sizes():
    recorder = Recorder()
    x = recorder.input(6, 2)
    pieces = [recorder.op("split_with_sizes", x, [1, 3, 2], 0, index=which) for which in range(3)]
    check(recorder, *pieces)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_joins_are_one_statement(dim):
    recorder = Recorder()
    shapes = [[2, 3, 4], [2, 3, 4], [2, 3, 4]]
    for count, shape in enumerate(shapes):
        shape[dim] = count + 1
    parts = [recorder.input(*shape) for shape in shapes]
    program = check(recorder, recorder.op("cat", parts, dim))
    assert len(program.statements) == 1


def test_stacks():
    recorder = Recorder()
    parts = [recorder.input(2, 3) for _ in range(3)]
    check(recorder, recorder.op("stack", parts, 1))


@pytest.mark.parametrize("pads", [[1, 2], [0, 1, 2, 0], [-1, 1, 0, -1]])
def test_paddings(pads):
    recorder = Recorder()
    x = recorder.input(3, 4)
    check(recorder, recorder.op("pad", x, pads, "constant", 1.5))


def test_outputs_that_are_views_inputs_or_repeated_have_arrays_of_their_own():
    recorder = Recorder()
    x = recorder.input(2, 3)
    y = recorder.op("exp", x)
    program = check(recorder, x, recorder.op("permute", y, [1, 0]), y, y)
    assert len(set(program.outputs)) == 4
    assert not set(program.outputs) & set(program.inputs)
