"""Plans of random graphs compute what the graphs' programs compute."""

from collections import Counter

import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from tests.xeforge.fusion.fuse.plans import assert_same_values
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion.fuse.groups import plan
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.machine import H200

SETTINGS = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}
seeds = st.integers(0, 2**40)
steps = st.integers(1, 9)


def assert_planned_right(seed, count):
    grower = Grower(seed, count)
    program = program_of(grower.recorder, *grower.outputs())
    found = plan(program, CPU if seed % 2 else H200)
    assert_same_values(program, found, grower.recorder.given())
    return found


@settings(max_examples=100, **SETTINGS)
@given(seeds, steps)
def test_random_plans(seed, count):
    assert_planned_right(seed, count)


@pytest.mark.slow
@settings(max_examples=800, **{**SETTINGS, "derandomize": False})
@given(seeds, steps)
def test_many_random_plans(seed, count):
    assert_planned_right(seed, count)


def test_random_plans_fuse():
    found = [assert_planned_right(seed, 8) for seed in range(40)]
    sizes = Counter((each.family, len(each.statements)) for plan in found for each in plan.groups)
    for family in ("pointwise", "rows", "contraction"):
        assert sum(times for key, times in sizes.items() if key[0] == family and key[1] > 1) > 5
