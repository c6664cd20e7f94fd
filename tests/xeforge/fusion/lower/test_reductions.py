"""Reductions and softmax against Torch in float64."""

import math

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check

DIMS = ([0], [1], [2], [-1], [0, 2], [0, 1, 2])


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("op", ["sum", "mean", "amax", "amin", "logsumexp", "var"])
def test_folds_over_dimensions(op, dims, keepdim):
    recorder = Recorder()
    x = recorder.input(3, 4, 5)
    kwargs = {"correction": 1} if op == "var" else {}
    folded = (
        recorder.op(op, x, dims, keepdim=keepdim, **kwargs)
        if op == "var"
        else recorder.op(op, x, dims, keepdim)
    )
    check(recorder, folded)


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min", "prod"])
def test_folds_over_everything(op):
    recorder = Recorder()
    check(recorder, recorder.op(op, recorder.input(2, 3)))


@pytest.mark.parametrize("op", ["max", "min"])
def test_extrema_along_a_dimension_are_the_first_result(op):
    recorder = Recorder()
    x = recorder.input(3, 4)
    check(recorder, recorder.op(op, x, 1, True, index=0))


def test_variance_and_mean_together():
    recorder = Recorder()
    x = recorder.input(3, 7)
    pair = [recorder.op("var_mean", x, [1], index=which, correction=0) for which in (0, 1)]
    check(recorder, *pair, recorder.op("std", x, [0]))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_softmax(op, dim):
    recorder = Recorder()
    x = recorder.input(3, 5, 2, low=-30, high=30)
    program = check(recorder, recorder.op(op, x, dim))
    assert [each.reduce.monoid for each in program.statements if each.reduce] == ["max", "sum"]


def test_large_and_infinite_values():
    recorder = Recorder()
    x = recorder.input(3, 4, low=800, high=900)
    infinite = recorder.input(3, 4)
    values = recorder.value(infinite)
    values[0] = -math.inf
    values[1, 2] = math.inf
    values[2, 1] = -math.inf
    check(
        recorder,
        recorder.op("logsumexp", x, [1]),
        recorder.op("logsumexp", infinite, [1]),
        recorder.op("softmax", infinite, 1),
        recorder.op("amax", infinite, [0]),
    )


def test_halves_are_summed_in_float32():
    recorder = Recorder("float16")
    x = recorder.input(2, 3000, low=0.9, high=1.1)
    check(recorder, recorder.op("sum", x, [1]), exact=False, tolerance=2.0**-10)
