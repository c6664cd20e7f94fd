"""Single statements of unusual form, compiled together, against the interpreter."""

import numpy as np
import pytest

from tests.xeforge.fusion.emit.c.programs import build_all
from tests.xeforge.fusion.emit.c.programs import faults
from tests.xeforge.fusion.samples import read
from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import number
from xeforge.fusion.functions import call
from xeforge.fusion.functions import cast
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import unfused
from xeforge.fusion.wellformed import check

ROW, COL = axis("i"), axis("j")
NAN, INFINITY = float("nan"), float("inf")


def program(shape, axes, output, body, reduce=None, *, constraints=(), dtype=""):
    dtype = dtype or (reduce.dtype if reduce else "float32")
    stmt = Stmt("s", axes, Access("y", output), body, reduce, constraints)
    arrays = (Array("x", (6, 40), "float32", "input"), Array("y", shape, dtype, "output"))
    return Program(arrays, (stmt,), ("x",), ("y",))


def rows(monoid):
    return program(
        (6,),
        (Axis("i", 6), Axis("j", 40)),
        (ROW,),
        read("x", ROW, COL),
        Reduce(("j",), monoid, "float32"),
    )


def columns(monoid):
    return program(
        (40,),
        (Axis("j", 40), Axis("i", 6)),
        (COL,),
        read("x", ROW, COL),
        Reduce(("i",), monoid, "float32"),
    )


def whole(monoid):
    axes = (Axis("i", 6), Axis("j", 40))
    return program((), axes, (), read("x", ROW, COL), Reduce(("i", "j"), monoid, "float32"))


LOWER = program(
    (6,),
    (Axis("i", 6), Axis("j", 40)),
    (ROW,),
    read("x", ROW, COL),
    Reduce(("j",), "sum", "float32"),
    constraints=(at_least(ROW, COL),),
)
NOTHING = program(
    (6,),
    (Axis("i", 6), Axis("j", 40)),
    (ROW,),
    read("x", ROW, COL),
    Reduce(("j",), "max", "float32"),
    constraints=(at_least(number(-1), COL),),
)
SHIFTED = program(
    (6, 40),
    (Axis("i", 6), Axis("j", 40)),
    (ROW, COL),
    read("x", ROW, COL - 3, guard=(at_least(COL, 3),), otherwise=-INFINITY),
)
STRIDED = program(
    (6, 40),
    (Axis("i", 6), Axis("j", 40)),
    (ROW, COL),
    read(
        "x",
        ROW,
        (COL - 5) // 2 + 3,
        guard=(Condition((COL - 5) % 2, "=="), at_least((COL - 5) // 2 + 3, 0)),
        otherwise=0.5,
    ),
)
CHOSEN = program(
    (6, 40),
    (Axis("i", 6), Axis("j", 40)),
    (ROW, COL),
    Select((at_least(COL, 20),), read("x", ROW, COL - 20), call("neg", Const(-2.5, "float32"))),
)
PLACES = program(
    (6, 40),
    (Axis("i", 6), Axis("j", 40)),
    (ROW, COL),
    call("mul", read("x", ROW, COL), cast(Position(ROW * 3 - COL, "int64"), "float32")),
)
FACTORS = program(
    (3, 80),
    (Axis("i", 3), Axis("j", 80)),
    (ROW, COL),
    call("ge", read("x", ROW * 2 + COL // 40, COL % 40), Const(0.25, "float32")),
    dtype="bool",
)
ONE = program(
    (1,), (), (Affine(),), call("add", read("x", number(5), number(39)), Const(1, "float32"))
)
CASES = {
    **{f"rows {each}": rows(each) for each in ("sum", "prod", "max", "min")},
    **{f"columns {each}": columns(each) for each in ("sum", "prod", "max", "min")},
    **{f"whole {each}": whole(each) for each in ("sum", "prod", "max", "min")},
    "lower": LOWER,
    "nothing": NOTHING,
    "shifted": SHIFTED,
    "strided": STRIDED,
    "chosen": CHOSEN,
    "places": PLACES,
    "factors": FACTORS,
    "one": ONE,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    for each in CASES.values():
        check(each, made_by="test")
    plans = [unfused(each) for each in CASES.values()]
    return dict(zip(CASES, build_all(plans, tmp_path_factory.mktemp("nest")), strict=True))


def given():
    return np.random.default_rng(1).uniform(-1.5, 1.5, (6, 40)).astype(np.float32)


@pytest.mark.parametrize("name", CASES)
def test_single_statements(runs, name):
    assert faults(CASES[name], runs[name], {"x": given()}) == []


@pytest.mark.parametrize("place", [0, 3, 39])
@pytest.mark.parametrize("name", [each for each in CASES if "max" in each or "min" in each])
def test_nan_wins_and_infinities_stay(runs, name, place):
    x = given()
    x[2, place] = NAN
    x[4, place] = INFINITY
    x[5, place] = -INFINITY
    assert faults(CASES[name], runs[name], {"x": x}) == []
