"""Each clause of the contract with the emitters, broken once."""

from dataclasses import replace

import pytest

from tests.xeforge.fusion import samples
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import axis
from xeforge.fusion.functions import call
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.invariants import BrokenPlan
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import unfused
from xeforge.fusion.wellformed import Malformed

PLAN = grow(samples.PROGRAM, Limits(H200))
(GROUP,) = PLAN.groups
APART = grow(samples.PROGRAM, Limits(H200, frozenset({"bent", "total"})))
ROWS = APART.groups[2]


def with_group(**changes):
    return replace(PLAN, groups=(replace(GROUP, **changes),))


def with_stmt(place, **changes):
    statements = list(GROUP.statements)
    statements[place] = replace(statements[place], **changes)
    return with_group(statements=tuple(statements))


def with_rows(**changes):
    return replace(APART, groups=(*APART.groups[:2], replace(ROWS, **changes)))


def assert_broken(plan, message):
    with pytest.raises(BrokenPlan, match=message):
        check_plan(plan)


def test_what_the_passes_make_is_kept():
    check_plan(PLAN)
    check_plan(APART)
    check_plan(unfused(samples.PROGRAM))
    assert [each.family for each in (GROUP, ROWS)] == ["contraction", "rows"]


def test_names():
    assert_broken(with_group(name="a-b"), "no identifier")
    same = tuple(replace(each, name="one") for each in APART.groups)
    assert_broken(replace(APART, groups=same), "two groups are called one")


def test_roles():
    assert_broken(with_group(family="rows"), "its roles are")
    doubled = {**GROUP.axes, "m": GROUP.axes["n"]}
    assert_broken(with_group(axes=doubled), "an axis has two roles")


def test_axes_of_one_point():
    batch = {**GROUP.axes, "batch": (Axis("b", 1),)}
    assert_broken(with_group(axes=batch), "an axis has one point")


def test_axes_of_a_statement_of_its_own():
    own = (*GROUP.statements[1].axes, Axis("z", 3))
    assert_broken(with_stmt(1, axes=own), "bent has axes of its own")


def test_points_left_out():
    cut = (at_least(axis("i"), 1),)
    assert_broken(with_stmt(1, constraints=cut), "bent leaves out points")


def test_reads_elsewhere():
    body = call("gelu", samples.read("p", axis("i"), axis("j") * 0))
    assert_broken(with_stmt(1, body=body), "bent reads p elsewhere")


def test_reads_under_a_guard():
    guard = (at_least(axis("i"), 1),)
    read = Read(Access("p", (axis("i"), axis("j")), guard), "float32")
    assert_broken(with_stmt(1, body=call("gelu", read)), "bent reads p under a guard")


def test_reads_before_the_write():
    first, second, third = GROUP.statements
    assert_broken(with_group(statements=(first, third, second)), "total reads y before")


def test_factors():
    swapped = {**GROUP.axes, "batch": GROUP.axes["m"], "m": ()}
    assert_broken(with_group(axes=swapped), "the factors of product know")
    partly = {**GROUP.axes, "k": (), "batch": GROUP.axes["k"]}
    assert_broken(with_group(axes=partly), "product does not fold k")


def test_folds_of_a_contraction():
    reduce = Reduce(("i",), "sum", "float32")
    output = Access("s", (axis("j"),))
    assert_broken(with_stmt(2, reduce=reduce, output=output), "does not fold the last axes of n")


def test_folds_of_rows():
    stmt = replace(ROWS.statements[0], reduce=None)
    assert_broken(with_rows(axes={"row": ROWS.axes["column"], "column": ROWS.axes["row"]}), "folds")
    assert_broken(with_rows(axes={"row": (*ROWS.axes["row"], Axis("z", 2)), "column": ()}), "runs")
    assert stmt.reduce is None


def test_nests():
    nest = Group("n", "nest", {}, GROUP.statements, GROUP.stored)
    assert_broken(replace(PLAN, groups=(nest,)), "its axes are")
    named = replace(nest, axes={"point": GROUP.axes["m"] + GROUP.axes["n"]})
    assert_broken(replace(PLAN, groups=(named,)), "total is not pointwise")


def test_stored():
    assert_broken(with_group(stored=("y",)), "s is needed elsewhere")
    assert_broken(with_group(stored=("p", "y", "s")), "p is stored for nobody")


def test_order_of_groups():
    with pytest.raises(Malformed, match="before the statement that writes it"):
        check_plan(replace(APART, groups=APART.groups[::-1]))
