"""Pools against Torch in float64."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.lower.arguments import CannotLower

SIZES = {1: (9,), 2: (7, 8), 3: (5, 6, 4)}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("sizes", "ceil"),
    [
        ((2, [], 0, 1), False),
        ((3, 2, 1, 1), False),
        ((2, 1, 1, 2), False),
        ((3, 2, 1, 1), True),
    ],
)
def test_max_pool(rank, sizes, ceil):
    recorder = Recorder()
    x = recorder.input(2, 3, *SIZES[rank], low=-9, high=-1)
    sizes = [each if each == [] else [each] * rank for each in sizes]
    program = check(recorder, recorder.op(f"max_pool{rank}d", x, *sizes, ceil))
    assert len(program.statements) == 1


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize(
    ("sizes", "ceil"),
    [((2, [], 0), False), ((3, 2, 1), False), ((3, 2, 1), True), ((2, 3, 0), True)],
)
def test_average_pool(rank, include, sizes, ceil):
    recorder = Recorder()
    x = recorder.input(2, 3, *SIZES[rank])
    sizes = [each if each == [] else [each] * rank for each in sizes]
    check(recorder, recorder.op(f"avg_pool{rank}d", x, *sizes, ceil, include))


def test_average_pool_with_a_divisor_of_its_own():
    recorder = Recorder()
    x = recorder.input(2, 3, 6, 6)
    check(recorder, recorder.op("avg_pool2d", x, [2, 2], [2, 2], [0, 0], False, True, 7))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2])
def test_adaptive_pool_to_sizes_that_divide(rank, size):
    recorder = Recorder()
    x = recorder.input(2, 3, *(4, 6, 2)[:rank])
    check(recorder, recorder.op(f"adaptive_avg_pool{rank}d", x, [size] * rank))


def test_adaptive_pool_to_another_size_is_refused():
    recorder = Recorder()
    x = recorder.input(2, 3, 7)
    pooled = recorder.op("adaptive_avg_pool1d", x, [3])
    with pytest.raises(CannotLower) as caught:
        program_of(recorder, pooled)
    assert caught.value.refusal.operator == "adaptive_avg_pool1d"


def test_windows_that_only_lack_elements_at_the_start_are_counted():
    recorder = Recorder()
    x = recorder.input(1, 2, 8)
    program = check(recorder, recorder.op("avg_pool1d", x, [3], [2], [1], False, False))
    assert len(program.statements) == 3
