"""Partial folds and the fold of them."""

from math import prod

import numpy as np
import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion import wellformed
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import split
from xeforge.fusion.interpret import interpret
from xeforge.fusion.ir import Select

MONOIDS = ("sum", "amax", "amin", "prod")


def split_of(shape, dims, terms, op="sum"):
    """Split the fold, compare, and return the two statements."""
    recorder = Recorder()
    more = (dims[0], False) if op == "prod" else (dims,)
    y = recorder.op(op, recorder.input(*shape), *more)
    program = canonical.run(program_of(recorder, y))
    result = split.run(program, y.name, terms)
    wellformed.check(result, made_by="test")
    wanted, got = (interpret(each, recorder.given())[y.name] for each in (program, result))
    np.testing.assert_allclose(got, wanted, rtol=1e-12)
    return result.statements


def folded(stmt):
    return prod(each.extent for each in stmt.axes if each.name in stmt.reduced())


@pytest.mark.parametrize("op", MONOIDS)
def test_parts_of_one_axis(op):
    part, rest = split_of((3, 24), [1], 8, op)
    assert (folded(part), folded(rest)) == (8, 3)
    assert part.reduce.monoid == rest.reduce.monoid


@pytest.mark.parametrize("op", MONOIDS)
def test_parts_that_do_not_divide_fold_the_identity(op):
    part, rest = split_of((3, 23), [1], 8, op)
    assert (folded(part), folded(rest)) == (8, 3)
    assert isinstance(part.body, Select)


def test_whole_axes_become_parts():
    part, rest = split_of((6, 4, 5), [0, 1, 2], 20)
    assert (folded(part), folded(rest)) == (20, 6)
    assert not isinstance(part.body, Select)


def test_an_axis_in_the_middle_is_cut():
    part, rest = split_of((6, 4, 5), [0, 1, 2], 10)
    assert (folded(part), folded(rest)) == (10, 12)


def test_a_near_divisor_is_preferred():
    part, _ = split_of((30,), [0], 8)
    assert folded(part) == 6
    assert not isinstance(part.body, Select)


def test_too_few_terms_are_refused():
    with pytest.raises(ValueError, match="too few terms"):
        split_of((3, 4), [1], 4)


def test_what_folds_nothing_is_refused():
    recorder = Recorder()
    y = recorder.op("relu", recorder.input(3))
    with pytest.raises(ValueError, match="no fold"):
        split.run(program_of(recorder, y), y.name, 2)


def test_partial_results_keep_the_accumulators_dtype():
    recorder = Recorder(dtype="float16")
    y = recorder.op("sum", recorder.input(64), [0])
    result = split.run(program_of(recorder, y), y.name, 8)
    assert result.arrays_by_name()[f"{y.name}_parts"].dtype == "float32"


def test_few_results_of_many_terms_want_parts():
    recorder = Recorder()
    y = recorder.op("sum", recorder.input(4096), [0])
    (stmt,) = program_of(recorder, y).statements
    assert split.terms_for(stmt, 4) == split.FEWEST_TERMS
    z = recorder.op("sum", recorder.input(512, 16), [1])
    assert split.terms_for(program_of(recorder, z).statements[-1], 4) is None
