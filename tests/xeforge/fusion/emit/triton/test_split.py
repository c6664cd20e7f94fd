"""Sums in parts: same meaning, plans that keep the contract, kernels that compile."""

import numpy as np
import pytest

from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import plan_of
from tests.xeforge.fusion.emit.triton.sources import product
from tests.xeforge.fusion.emit.triton.sources import tensors_of
from xeforge.errors import BadRequest
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.split import split_sum
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.interpret import interpret

SIZES = (6, 8, 12)


@pytest.mark.parametrize("after", [(), ("gelu",), ("gelu", "softmax")])
def test_parts_add_up(after):
    recorder, output = product("float32", SIZES, after)
    plan = plan_of(recorder, output)
    cut = split_sum(plan, plan.groups[0].name, 3)
    check_plan(cut)
    given = recorder.given()
    (wanted,) = interpret(plan.program, given).values()
    (found,) = interpret(cut.as_program(), given).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_parts_are_batches_of_the_product_and_are_added_in_one_kernel():
    recorder, output = product("float32", SIZES)
    plan = plan_of(recorder, output)
    cut = split_sum(plan, plan.groups[0].name, 3)
    assert [each.family for each in cut.groups] == ["contraction", "rows"]
    assert cut.groups[0].extent("batch") == 3
    assert "tl.dot(" in emit(cut, tensors_of(recorder), TARGET)


def test_parts_that_are_not_equal_are_refused():
    recorder, output = product("float32", SIZES)
    plan = plan_of(recorder, output)
    with pytest.raises(BadRequest, match="no 5 equal parts"):
        split_sum(plan, plan.groups[0].name, 5)
    with pytest.raises(BadRequest, match="no 12 equal parts of several terms"):
        split_sum(plan, plan.groups[0].name, SIZES[2])
    with pytest.raises(BadRequest, match="no contraction"):
        split_sum(plan, "nothing", 2)
