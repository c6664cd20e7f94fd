"""The stage order breaks no hard edge, whatever is asked for."""

from hypothesis import given
from hypothesis import strategies as st

from xeforge.pipeline.order import earlier
from xeforge.pipeline.order import ordered
from xeforge.pipeline.order import plan
from xeforge.pipeline.stages import STAGE_BY_NAME
from xeforge.pipeline.stages import STAGES

NAMES = [stage.name for stage in STAGES]


@given(st.permutations(NAMES), st.integers(0, len(NAMES)))
def test_every_permutation_of_every_subset_is_put_in_legal_order(names, length):
    asked = names[:length]
    result = ordered(asked)
    assert sorted(result) == sorted(asked)
    for index, name in enumerate(result):
        assert not earlier(name) & set(result[index + 1 :])


def test_edges_hold_through_stages_that_were_not_asked_for():
    assert ordered(["autotuning", "algorithmic"]) == ("algorithmic", "autotuning")
    assert earlier("autotuning") >= {"algorithmic", "discovery", "dtype_fix", "fusion"}


def test_the_default_order_is_the_usual_one():
    assert ordered(NAMES) == tuple(NAMES)


def test_every_issue_belongs_to_exactly_one_stage():
    cured = [issue for stage in STAGES for issue in stage.cures]
    assert len(cured) == len(set(cured)) == 47


def test_every_edge_names_a_stage():
    assert all(name in STAGE_BY_NAME for stage in STAGES for name in stage.after)


def test_a_plan_says_why_each_stage_is_in_or_out():
    stages, reasons = plan(("dtype_fix", "discovery"), {"dtype_float64"})
    assert stages == ["dtype_fix"]
    assert "dtype_fix: dtype_float64" in reasons
    assert "discovery: left out, no proposer without a language model" in reasons
    assert "fusion: not asked for" in reasons
    assert len(reasons) == len(STAGES)
