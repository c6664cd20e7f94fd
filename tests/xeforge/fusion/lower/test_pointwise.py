"""Pointwise operators against Torch in float64."""

import math

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check

UNARY = (
    *("tan", "exp2", "ceil", "trunc", "sign", "log_sigmoid", "celu"),
    *("abs", "neg", "exp", "expm1", "erf", "tanh", "sin", "cos", "floor", "relu", "sigmoid"),
    *("silu", "mish", "hardswish", "hardsigmoid", "relu6", "selu", "square", "gelu", "softplus"),
    *("leaky_relu", "elu", "hardtanh", "reciprocal"),
)
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")


@pytest.mark.parametrize("op", UNARY)
def test_a_function_of_one_operand_is_one_statement(op):
    recorder = Recorder()
    x = recorder.input(3, 1, 5, low=-8, high=8)
    program = check(recorder, recorder.op(op, x))
    assert len(program.statements) == 1


@pytest.mark.parametrize("op", POSITIVE)
def test_functions_of_positive_operands(op):
    recorder = Recorder()
    x = recorder.input(7, low=0.1, high=9)
    check(recorder, recorder.op(op, x))


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("leaky_relu", (0.2,)),
        ("softplus", (2.0, 3.0)),
        ("elu", (0.7,)),
        ("hardtanh", (-0.5, 0.25)),
        ("clamp", (-0.5, 0.5)),
        ("clamp", (None, 0.5)),
        ("clamp_min", (0.1,)),
        ("clamp_max", (0.1,)),
        ("pow", (2,)),
        ("pow", (3,)),
        ("pow", (-1,)),
    ],
)
def test_functions_with_numbers(op, args):
    recorder = Recorder()
    check(recorder, recorder.op(op, recorder.input(4, 3), *args))


def test_operators_of_three_operands():
    recorder = Recorder()
    x, y = recorder.input(4, 3), recorder.input(3)
    z = recorder.input(4, 1, low=0.5)
    check(
        recorder,
        recorder.op("addcmul", x, y, z, value=0.5),
        recorder.op("addcdiv", x, y, z),
        recorder.op("lerp", x, recorder.op("mul", x, y), 0.3),
        recorder.op("threshold", x, 0.2, -1.0),
        recorder.op("celu", x, 1.7),
    )


def test_gelu_by_tanh():
    recorder = Recorder()
    check(recorder, recorder.op("gelu", recorder.input(9, low=-6, high=6), approximate="tanh"))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "minimum", "maximum"])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((2,), ())]
)
def test_operands_broadcast(op, shapes):
    recorder = Recorder()
    x, y = (recorder.input(*shape, low=0.5, high=3) for shape in shapes)
    check(recorder, recorder.op(op, x, y))


def test_numbers_and_scalar_constants_are_operands():
    recorder = Recorder()
    x = recorder.input(3, 2)
    y = recorder.op("add", x, recorder.constant(0.5))
    z = recorder.op("mul", recorder.op("sub", y, 2.0), 1.5)
    program = check(recorder, recorder.op("rsub", z, 1.0))
    assert [each.name for each in program.arrays if each.role == "parameter"] == []


def test_alpha_scales_the_second_operand():
    recorder = Recorder()
    x, y = recorder.input(3), recorder.input(3)
    check(recorder, recorder.op("add", x, y, alpha=0.5), recorder.op("sub", x, y, alpha=2))


def test_comparisons_and_choices():
    recorder = Recorder()
    x, y = recorder.input(4, 3), recorder.input(3)
    greater = recorder.op("gt", x, y)
    both = recorder.op("logical_and", greater, recorder.op("logical_not", recorder.op("lt", x, 0)))
    masked = recorder.op("masked_fill", x, both, -3.0)
    check(recorder, recorder.op("where", greater, x, y), masked)


def test_special_values_go_the_same_way():
    recorder = Recorder()
    x = recorder.input(6)
    recorder.tensors["x0"][:4] = recorder.tensors["x0"].new_tensor(
        [math.inf, -math.inf, math.nan, -0.0]
    )
    names = ("relu", "abs", "exp", "tanh", "sigmoid", "silu", "mish", "hardtanh", "leaky_relu")
    check(recorder, *(recorder.op(name, x) for name in names), recorder.op("clamp", x, -1.0, 1.0))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_halves_are_computed_in_float32_and_rounded_once(dtype):
    recorder = Recorder(dtype)
    x, y = recorder.input(40, 7, low=0.1), recorder.input(7, low=0.1)
    # A number that all formats hold: Torch rounds it to the half on CPUs, and not on GPUs.
    z = recorder.op("mul", recorder.op("add", x, 0.25), y)
    ulp = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-22}[dtype]
    # Sums, products and quotients are the very same numbers; exponentials may differ by an ulp.
    check(recorder, z, recorder.op("div", z, y), exact=False, tolerance=0)
    check(recorder, recorder.op("gelu", z), exact=False, tolerance=ulp)


def test_conversions():
    recorder = Recorder("float32")
    x = recorder.input(5)
    half = recorder.op("to", x, recorder.torch_dtype("float16"))
    check(
        recorder,
        recorder.op("add", recorder.op("to", half, recorder.torch_dtype("float32")), x),
        exact=False,
        tolerance=0,
    )
