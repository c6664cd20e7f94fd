"""Bytes and operations, against what is counted by hand."""

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.cost import program_cost


def test_a_linear_layer_with_gelu():
    recorder = Recorder("float16")
    x, weight, bias = recorder.input(8, 32), recorder.parameter(16, 32), recorder.parameter(16)
    program = program_of(recorder, recorder.op("gelu", recorder.op("linear", x, weight, bias)))
    cost = program_cost(program)
    product, biased, bent = cost.statements
    assert product.points == 8 * 16 * 32
    assert product.flops == 2 * product.points
    assert product.read_bytes == 2 * (8 * 32 + 16 * 32)
    assert product.written_bytes == 4 * 8 * 16
    assert biased.read_bytes == 4 * 8 * 16 + 2 * 16
    assert bent.flops == 5 * 8 * 16
    assert cost.compulsory_bytes == 2 * (8 * 32 + 16 * 32 + 16 + 8 * 16)
    assert cost.moved_bytes == sum(each.read_bytes + each.written_bytes for each in cost.statements)
    assert cost.flops == sum(each.flops for each in cost.statements)


def test_only_the_part_that_is_read_counts():
    recorder = Recorder("float32")
    x = recorder.input(10, 100)
    part = recorder.op("slice", x, 1, 20, 50)
    cost = program_cost(program_of(recorder, recorder.op("exp", part)))
    assert cost.statements[-1].read_bytes == 4 * 10 * 30
    strided = recorder.op("slice", x, 1, 0, 100, 4)
    cost = program_cost(program_of(recorder, recorder.op("exp", strided)))
    assert cost.statements[-1].read_bytes == 4 * 10 * 25


def test_an_array_read_twice_moves_once_and_padding_does_not_move():
    recorder = Recorder("float32")
    x = recorder.input(1, 1, 10)
    cost = program_cost(program_of(recorder, recorder.op("mul", x, x)))
    assert cost.statements[-1].read_bytes == 40
    padded = recorder.op("pad", x, [5, 5], "constant", 0.0)
    cost = program_cost(program_of(recorder, padded))
    assert cost.statements[-1].read_bytes == 40
    assert cost.statements[-1].written_bytes == 80
