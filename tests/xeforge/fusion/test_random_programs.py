"""Random graphs, lowered and interpreted, against Torch in float64."""

from collections import Counter

import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from tests.xeforge.fusion.graphs import check
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion.legality import may_reorder

SETTINGS = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}
seeds = st.integers(0, 2**40)
steps = st.integers(1, 9)


def assert_lowered_right(seed, count):
    grower = Grower(seed, count)
    program = check(grower.recorder, *grower.outputs(), tolerance=1e-9)
    assert may_reorder(program, [each.name for each in program.statements]) is None
    return program


@settings(max_examples=40, **SETTINGS)
@given(seeds, steps)
def test_random_graphs(seed, count):
    assert_lowered_right(seed, count)


@pytest.mark.slow
@settings(max_examples=400, **{**SETTINGS, "derandomize": False})
@given(seeds, steps)
def test_many_random_graphs(seed, count):
    assert_lowered_right(seed, count)


def test_random_graphs_are_of_many_operators():
    found = Counter(node.op for seed in range(60) for node in Grower(seed, 8).recorder.nodes)
    assert len(found) >= 40
    assert {"conv2d", "conv_transpose1d", "max_pool2d", "linear", "softmax", "cat"} <= set(found)
