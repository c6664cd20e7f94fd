"""Factors in longer rows: same meaning, plans that keep the contract, kernels with descriptors."""

import numpy as np
import pytest

from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import plan_of
from tests.xeforge.fusion.emit.triton.sources import product
from tests.xeforge.fusion.emit.triton.sources import rows
from tests.xeforge.fusion.emit.triton.sources import tensors_of
from xeforge.errors import BadRequest
from xeforge.fusion.emit.triton.contraction import problem_of
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.pad import pad_factors
from xeforge.fusion.emit.triton.pad import padded_k
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.interpret import interpret


@pytest.mark.parametrize("depth", [5, 64, 70])
def test_zeros_change_no_sum(depth):
    recorder, output = product("float32", (6, 8, depth))
    plan = plan_of(recorder, output)
    padded = pad_factors(plan, plan.groups[0].name)
    check_plan(padded)
    given = recorder.given()
    (wanted,) = interpret(plan.program, given).values()
    (found,) = interpret(padded.as_program(), given).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_copies_are_kernels_before_one_that_reads_through_descriptors():
    recorder, output = product("float16", (32, 48, 37))
    plan = plan_of(recorder, output)
    group = plan.groups[0]
    assert not problem_of(group, plan.program).may_describe
    assert padded_k(group, plan.program) == 64
    padded = pad_factors(plan, group.name)
    assert [each.family for each in padded.groups] == ["pointwise", "pointwise", "contraction"]
    assert problem_of(padded.groups[-1], padded.program).may_describe
    tile = Tile(32, 32, 32, 4, 2, form="descriptors", pads=True)
    text = emit(plan, tensors_of(recorder), TARGET, {group.name: [tile]})
    assert text.count("tl.make_tensor_descriptor(") == 3


def test_what_is_no_product_of_rows_is_refused():
    recorder, output = rows()
    plan = plan_of(recorder, output)
    with pytest.raises(BadRequest, match="no rows that could be copied"):
        pad_factors(plan, plan.groups[0].name)
