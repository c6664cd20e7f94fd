"""Plans of random graphs compute what the graphs' programs compute."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from tests.xeforge.fusion.fuse.plans import assert_same_values
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion import wellformed
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import choices
from xeforge.fusion.fuse import inline
from xeforge.fusion.fuse import roundings
from xeforge.fusion.fuse import split
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.search import search
from xeforge.fusion.interpret import interpret
from xeforge.fusion.legality import may_reorder

SETTINGS = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}
EAGER = replace(H200, nests_take_pointwise=True, contracts_windows=True)
TAKING = replace(CPU, nests_take_pointwise=True)
MACHINES = (H200, CPU, EAGER, TAKING)
seeds = st.integers(0, 2**40)
steps = st.integers(1, 9)


def grown(seed, count):
    grower = Grower(seed, count)
    return grower, program_of(grower.recorder, *grower.outputs())


def assert_planned_right(seed, count):
    grower, program = grown(seed, count)
    found = search(program, MACHINES[seed % 4])
    for each in found:
        assert_same_values(program, each.plan, grower.recorder.given())
    assert_same_values(program, roundings.run(found[0].plan), grower.recorder.given())
    kept = canonical.run(program)
    if {each.name for each in kept.statements} == _names(found[-1].plan):
        order = [stmt.name for group in found[-1].plan.groups for stmt in group.statements]
        assert may_reorder(kept, order) is None
    return found[0].plan


def _names(plan):
    return {stmt.name for group in plan.groups for stmt in group.statements}


def changed(program, choice):
    """Inline and split at random, whether it helps or not."""
    program = canonical.run(program)
    for _ in range(4):
        plan = grow(program, Limits(H200))
        edges = [each for each in choices.crossing_edges(plan) if inline.may_inline(program, each)]
        if edges:
            program = inline.run(program, choice.choice(edges))
        folds = [each for each in program.statements if each.reduce]
        if folds:
            program = _split(program, choice.choice(folds), choice.randint(1, 5))
    return program


def _split(program, stmt, terms):
    try:
        return split.run(program, stmt.name, terms)
    except ValueError:
        return program


def assert_changed_right(seed, count):
    grower, program = grown(seed, count)
    new = changed(program, random.Random(seed))
    wellformed.check(new, made_by="test")
    wanted, got = (interpret(each, grower.recorder.given()) for each in (program, new))
    for name, values in wanted.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-9, atol=1e-9)
    assert_same_values(program, grow(new, Limits(H200)), grower.recorder.given())
    return len(new.passes)


@settings(max_examples=50, **SETTINGS)
@given(seeds, steps)
def test_random_plans(seed, count):
    assert_planned_right(seed, count)


@settings(max_examples=50, **SETTINGS)
@given(seeds, steps)
def test_random_changes(seed, count):
    assert_changed_right(seed, count)


@pytest.mark.slow
@settings(max_examples=600, **{**SETTINGS, "derandomize": False})
@given(seeds, steps)
def test_many_random_plans(seed, count):
    assert_planned_right(seed, count)
    assert_changed_right(seed, count)


def test_random_plans_fuse():
    found = [assert_planned_right(seed, 8) for seed in range(40)]
    sizes = Counter((each.family, len(each.statements)) for plan in found for each in plan.groups)
    for family in ("pointwise", "rows", "contraction"):
        assert sum(times for key, times in sizes.items() if key[0] == family and key[1] > 1) > 5


def test_random_changes_are_made():
    assert sum(assert_changed_right(seed, 8) for seed in range(20)) > 80
