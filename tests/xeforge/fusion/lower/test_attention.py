"""Scaled dot-product attention against Torch in float64."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check

OP = "scaled_dot_product_attention"


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_attention(lead, is_causal):
    recorder = Recorder()
    query = recorder.input(*lead, 5, 4)
    key, value = recorder.input(*lead, 7, 4), recorder.input(*lead, 7, 3)
    program = check(recorder, recorder.op(OP, query, key, value, None, 0.0, is_causal))
    assert len([each for each in program.statements if each.reduce]) == 4


def test_a_mask_that_is_added_and_a_scale():
    recorder = Recorder()
    query, key, value = (recorder.input(2, 5, 4) for _ in range(3))
    mask = recorder.input(5, 5)
    check(recorder, recorder.op(OP, query, key, value, mask, scale=0.7))


def test_a_mask_of_booleans():
    recorder = Recorder()
    query, key, value = (recorder.input(2, 5, 4) for _ in range(3))
    keep = recorder.op("gt", recorder.input(5, 5, low=-1, high=3), 0.0)
    check(recorder, recorder.op(OP, query, key, value, keep))
