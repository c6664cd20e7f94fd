"""Convolutions and transposed convolutions against Torch in float64."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check
from tests.xeforge.fusion.graphs import program_of

SIZES = {1: (9,), 2: (7, 6), 3: (5, 4, 6)}
KERNELS = {1: (3,), 2: (3, 2), 3: (2, 3, 1)}


def pair(rank, *values):
    return list(values[:rank])


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("stride", "padding", "dilation"),
    [
        ((1, 1, 1), (0, 0, 0), (1, 1, 1)),
        ((2, 1, 2), (1, 2, 0), (1, 1, 2)),
        ((1, 2, 1), (2, 0, 1), (2, 1, 1)),
    ],
)
def test_convolution(rank, groups, stride, padding, dilation):
    recorder = Recorder()
    x = recorder.input(2, 4, *SIZES[rank])
    weight, bias = recorder.parameter(6, 4 // groups, *KERNELS[rank]), recorder.parameter(6)
    sizes = (pair(rank, *stride), pair(rank, *padding), pair(rank, *dilation))
    program = check(recorder, recorder.op(f"conv{rank}d", x, weight, bias, *sizes, groups))
    assert len(program.statements) == 2


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "sizes",
    [
        ((1, 1, 1), (0, 0, 0), (0, 0, 0), (1, 1, 1)),
        ((2, 3, 2), (1, 0, 1), (1, 2, 0), (1, 1, 1)),
        ((2, 1, 3), (1, 1, 0), (0, 0, 2), (2, 1, 1)),
    ],
)
def test_transposed_convolution(rank, groups, sizes):
    recorder = Recorder()
    x = recorder.input(2, 4, *(size - 2 for size in SIZES[rank]))
    weight, bias = recorder.parameter(4, 6 // groups, *KERNELS[rank]), recorder.parameter(6)
    *before, spread = (pair(rank, *each) for each in sizes)  # stride, padding, extra; dilation
    check(
        recorder,
        recorder.op(f"conv_transpose{rank}d", x, weight, bias, *before, groups, spread),
    )


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("kernel", [2, 3])
def test_paddings_by_name(padding, kernel):
    recorder = Recorder()
    x, weight = recorder.input(2, 3, 8), recorder.parameter(4, 3, kernel)
    check(recorder, recorder.op("conv1d", x, weight, None, [1], padding, [2]))


def test_no_guard_where_nothing_is_padded():
    recorder = Recorder()
    x, weight = recorder.input(2, 3, 8, 8), recorder.parameter(4, 3, 3, 3)
    program = program_of(recorder, recorder.op("conv2d", x, weight))
    assert [read.access.guard for read in program.statements[0].reads()] == [(), ()]


def test_a_step_of_a_transposed_convolution_is_a_condition_on_the_remainder():
    recorder = Recorder()
    x, weight = recorder.input(1, 2, 5), recorder.parameter(2, 3, 4)
    program = check(recorder, recorder.op("conv_transpose1d", x, weight, None, [2], [1]))
    guard = program.statements[0].reads()[0].access.guard
    assert [str(each) for each in guard] == [
        "(k - s + 1) % 2 == 0",
        "(k - s + 1) // 2 >= 0",
        "4 >= (k - s + 1) // 2",
    ]
