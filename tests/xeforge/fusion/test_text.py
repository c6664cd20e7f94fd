"""Programs as people read them; each text in tests/golden is of a program that was also run."""

from pathlib import Path

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import below
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Select
from xeforge.fusion.text import expr_text
from xeforge.fusion.text import program_text

GOLDEN = Path(__file__).parents[2] / "golden" / "fusion"


def gemm_gelu(recorder):
    x, weight, bias = recorder.input(7, 5), recorder.parameter(3, 5), recorder.parameter(3)
    return recorder.op("gelu", recorder.op("linear", x, weight, bias))


def softmax(recorder):
    return recorder.op("softmax", recorder.input(4, 9), 1)


def conv_pool(recorder):
    x, weight = recorder.input(1, 2, 8, 8), recorder.parameter(4, 2, 3, 3)
    conv = recorder.op("conv2d", x, weight, None, [2, 2], [1, 1])
    return recorder.op("max_pool2d", recorder.op("tanh", conv), [2, 2])


@pytest.mark.parametrize("build", [gemm_gelu, softmax, conv_pool], ids=lambda each: each.__name__)
def test_golden_text(build):
    recorder = Recorder("float16")
    program = check(recorder, build(recorder), exact=False, tolerance=2.0**-9)
    wanted = (GOLDEN / f"{build.__name__}.txt").read_text(encoding="utf-8")
    assert program_text(program) == wanted


def test_brackets_stand_where_the_meaning_needs_them():
    a, b, c = (Const(value, "float32") for value in (1.0, 2.0, 3.0))
    assert expr_text(call("sub", a, call("sub", b, c))) == "1 - (2 - 3)"
    assert expr_text(call("sub", call("sub", a, b), c)) == "1 - 2 - 3"
    assert expr_text(call("mul", call("add", a, b), c)) == "(1 + 2) * 3"
    assert expr_text(call("add", call("mul", a, b), c)) == "1 * 2 + 3"
    assert expr_text(call("div", a, call("mul", b, c))) == "1 / (2 * 3)"
    assert expr_text(call("neg", call("add", a, b))) == "-(1 + 2)"
    assert expr_text(call("exp", call("neg", a))) == "exp(-1)"


def test_positions_decide_in_plain_words():
    chosen = Select((below(axis("i"), 3),), Const(1.0, "float32"), Const(0.5, "float32"))
    assert expr_text(chosen) == "(1 where 2 >= i else 0.5)"
