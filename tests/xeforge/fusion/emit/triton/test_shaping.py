"""What tiles ask of a plan."""

import numpy as np
import pytest

from tests.xeforge.fusion.emit.triton.sources import plan_of
from tests.xeforge.fusion.emit.triton.sources import product
from xeforge.fusion.emit.triton.shaping import shaped
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.interpret import interpret


@pytest.mark.parametrize(
    ("depth", "tile"),
    [
        (12, Tile(16, 16, 16, 4, 2, splits=3)),
        (5, Tile(16, 16, 16, 4, 2, pads=True)),
        (37, Tile(16, 16, 16, 4, 2, pads=True, splits=4)),
    ],
)
def test_the_shaped_plan_means_the_same(depth, tile):
    recorder, output = product("float32", (6, 8, depth))
    plan = plan_of(recorder, output)
    found, tiles = shaped(plan, {plan.groups[0].name: [tile]})
    check_plan(found)
    (contraction,) = [each for each in found.groups if each.family == "contraction"]
    assert tiles[contraction.name] == [tile]
    given = recorder.given()
    (wanted,) = interpret(plan.program, given).values()
    (got,) = interpret(found.as_program(), given).values()
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_other_tiles_leave_the_plan_as_it_is():
    recorder, output = product("float32", (6, 8, 12))
    plan = plan_of(recorder, output)
    tiles = {plan.groups[0].name: [Tile(16, 16, 16, 4, 2)]}
    assert shaped(plan, tiles) == (plan, tiles)
