"""Questions about integer sets: exact answers, or a typed refusal."""

import pytest

from tests.xeforge.fusion.samples import COLUMNS
from tests.xeforge.fusion.samples import PROGRAM
from tests.xeforge.fusion.samples import ROWS
from xeforge.fusion import isl
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import equal
from xeforge.fusion.deps import flow_dependences
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Stmt

ROW, COL = axis("i"), axis("j")


def stmt(*output, constraints=()):
    axes = (Axis("i", ROWS), Axis("j", COLUMNS))
    return Stmt("s", axes, Access("y", output), Const(0.0, "float32"), None, constraints)


def test_a_point_outside_is_a_point_of_the_domain():
    plain = stmt(ROW, COL)
    conditions = (equal(COL % 3, 2), at_least(ROW, 2))
    found = isl.point_outside(plain, Access("x", (ROW * 2 - COL,)), conditions, (5,))
    assert found["j"] % 3 == 2
    assert found["i"] >= 2
    assert not 0 <= found["i"] * 2 - found["j"] < 5
    inside = (*conditions, at_least(ROW * 2, COL), at_least(COL + 4, ROW * 2))
    assert isl.point_outside(plain, Access("x", (ROW * 2 - COL,)), inside, (5,)) is None
    assert isl.point_outside(plain, Access("x", ()), (), ()) is None


def test_coverage_of_the_written_array():
    assert isl.element_unwritten(stmt(ROW, COL), (ROWS, COLUMNS)) is None
    assert isl.element_unwritten(stmt(ROW, COL), (ROWS, COLUMNS + 1)) == (0, COLUMNS)
    holed = stmt(ROW, COL, constraints=(at_least(ROW * 10 + COL, 1),))
    assert isl.element_unwritten(holed, (ROWS, COLUMNS)) == (0, 0)
    assert isl.element_unwritten(stmt(ROW * COLUMNS + COL), (ROWS * COLUMNS,)) is None


def test_elements_written_twice():
    assert isl.element_written_twice(stmt(ROW * COLUMNS + COL)) is None
    assert isl.element_written_twice(stmt(ROW + COL)) is not None
    assert isl.element_written_twice(stmt(ROW)) is not None


def test_a_question_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(isl, "MAX_OPERATIONS", 1)
    with pytest.raises(isl.TooHard, match="integer sets"):
        isl.element_written_twice(stmt(ROW + COL // 2, COL % 2))
    monkeypatch.undo()
    assert flow_dependences(PROGRAM)
