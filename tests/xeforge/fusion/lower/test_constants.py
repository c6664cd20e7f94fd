"""Numbers in a shape, and triangles."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check


@pytest.mark.parametrize("diagonal", [-1, 0, 2])
@pytest.mark.parametrize("op", ["tril", "triu"])
def test_triangles(op, diagonal):
    recorder = Recorder()
    check(recorder, recorder.op(op, recorder.input(2, 4, 5), diagonal))


def test_numbers_take_no_statement():
    recorder = Recorder()
    x = recorder.input(3, 2)
    ones, filled = recorder.op("ones_like", x), recorder.op("full_like", x, 2.5)
    program = check(recorder, recorder.op("add", recorder.op("mul", x, filled), ones), filled)
    assert len(program.statements) == 3
