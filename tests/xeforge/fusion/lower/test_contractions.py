"""Matrix products against Torch in float64."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_linear(lead, bias):
    recorder = Recorder()
    x, weight = recorder.input(*lead, 5), recorder.parameter(7, 5)
    extra = (recorder.parameter(7),) if bias else ()
    program = check(recorder, recorder.op("linear", x, weight, *extra))
    assert len(program.statements) == 1 + bias


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 5), (5, 2)),
        ((5,), (5, 2)),
        ((3, 5), (5,)),
        ((5,), (5,)),
        ((4, 3, 5), (4, 5, 2)),
        ((4, 3, 5), (5, 2)),
        ((3, 5), (4, 5, 2)),
        ((1, 4, 3, 5), (2, 1, 5, 2)),
        ((5,), (4, 5, 2)),
        ((4, 3, 5), (5,)),
    ],
)
def test_matmul_of_all_ranks(left, right):
    recorder = Recorder()
    program = check(recorder, recorder.op("matmul", recorder.input(*left), recorder.input(*right)))
    assert len(program.statements) == 1


def test_products_by_other_names():
    recorder = Recorder()
    x, y = recorder.input(3, 4), recorder.input(4, 5)
    a, b = recorder.input(2, 3, 4), recorder.input(2, 4, 5)
    v = recorder.input(4)
    check(
        recorder,
        recorder.op("mm", x, y),
        recorder.op("bmm", a, b),
        recorder.op("mv", x, v),
        recorder.op("dot", v, v),
    )


@pytest.mark.parametrize("kwargs", [{}, {"beta": 0.5}, {"alpha": 2}, {"beta": 0, "alpha": 3}])
def test_addmm(kwargs):
    recorder = Recorder()
    x, y, c = recorder.input(3, 4), recorder.input(4, 5), recorder.input(5)
    a, b = recorder.input(2, 3, 4), recorder.input(2, 4, 5)
    d = recorder.input(2, 3, 5)
    check(
        recorder,
        recorder.op("addmm", c, x, y, **kwargs),
        recorder.op("baddbmm", d, a, b, **kwargs),
    )


def test_a_transposed_operand_costs_no_statement():
    recorder = Recorder()
    x, weight = recorder.input(3, 5), recorder.parameter(7, 5)
    turned = recorder.op("permute", weight, [1, 0])
    program = check(recorder, recorder.op("matmul", x, turned))
    assert len(program.statements) == 1


@pytest.mark.parametrize(("dtype", "ulp"), [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_halves_are_summed_in_float32_and_rounded_after_the_bias(dtype, ulp):
    recorder = Recorder(dtype)
    x, weight, bias = recorder.input(9, 33), recorder.parameter(8, 33), recorder.parameter(8)
    program = check(recorder, recorder.op("linear", x, weight, bias), exact=False, tolerance=ulp)
    assert program.arrays_by_name()["linear_3_product"].dtype == "float32"
