"""Values in registers without the roundings of memory."""

import numpy as np
import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.fuse import roundings
from xeforge.fusion.fuse.groups import plan
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.interpret import interpret


def chain(dtype):
    recorder = Recorder(dtype=dtype)
    y = recorder.op(
        "linear", recorder.input(8, 16), recorder.parameter(8, 16), recorder.parameter(8)
    )
    y = recorder.op("sigmoid", recorder.op("mul", y, recorder.input(8, 8)))
    y = recorder.op("softmax", y, 1)
    return recorder, program_of(recorder, recorder.op("tanh", y))


def error(program, given):
    exact = interpret(program, given)
    rounded = interpret(program, given, exact=False)
    return sum(float(np.abs(rounded[name] - exact[name]).mean()) for name in exact)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_results_are_closer_to_float64(dtype):
    recorder, program = chain(dtype)
    rounding = plan(program, CPU)
    plain = roundings.run(rounding)
    given = recorder.given()
    assert error(plain.as_program(), given) < 0.8 * error(rounding.as_program(), given)


def test_what_is_stored_keeps_its_dtype():
    _, program = chain("float16")
    plain = roundings.run(plan(program, CPU))
    arrays = plain.program.arrays_by_name()
    for group in plain.groups:
        assert {arrays[name].dtype for name in group.local()} == {"float32"}
        assert {arrays[name].dtype for name in group.stored} == {"float16"}
    assert roundings.NAME in plain.program.passes


def test_factors_keep_the_dtype_of_the_matrix_unit():
    recorder = Recorder(dtype="float16")
    x = recorder.op("relu", recorder.input(8, 16))
    y = recorder.op("linear", x, recorder.parameter(8, 16))
    found = plan(program_of(recorder, y), CPU)
    assert roundings.run(found).groups[0].statements[0] == found.groups[0].statements[0]


def test_nothing_is_done_where_nothing_is_rounded():
    _, program = chain("float32")
    found = plan(program, CPU)
    plain = roundings.run(found)
    assert plain.groups == found.groups
    assert plain.notes == found.notes
