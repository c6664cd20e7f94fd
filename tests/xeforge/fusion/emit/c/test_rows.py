"""Rows in their three ways: along the columns, several rows at once, and few long rows."""

import pytest

from tests.xeforge.fusion.emit.c.programs import TARGET
from tests.xeforge.fusion.emit.c.programs import build_all
from tests.xeforge.fusion.emit.c.programs import faults
from tests.xeforge.fusion.emit.c.programs import fused
from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.emit.c.passes import schedule
from xeforge.fusion.emit.c.source import emit
from xeforge.fusion.emit.c.target import Limits

WAYS = {"along": "reduction(", "lanes": "base + lane", "parts": "parts[at]"}
CASES = {
    "softmax": ("along", (9, 37), lambda r, x: r.op("softmax", x, 1)),
    "softmax of channels": ("lanes", (3, 5, 47), lambda r, x: r.op("softmax", x, 1)),
    "sum of columns": ("lanes", (20, 50), lambda r, x: r.op("sum", x, [0], False)),
    "short rows": ("lanes", (90, 7), lambda r, x: r.op("logsumexp", x, [1], True)),
    "everything": ("parts", (40, 50), lambda r, x: r.op("sum", x, [0, 1], False)),
    "few long rows": ("parts", (2, 900), lambda r, x: r.op("softmax", x, 1)),
    "layer norm": (
        "along",
        (6, 70),
        lambda r, x: r.op("layer_norm", x, [70], r.parameter(70), r.parameter(70), 1e-2, False),
    ),
    "group norm": (
        "along",
        (4, 6, 25),
        lambda r, x: r.op("group_norm", x, 3, r.parameter(6), r.parameter(6), 1e-2, False),
    ),
    "batch norm": (
        "along",
        (3, 4, 31),
        lambda r, x: r.op("batch_norm", x, None, None, None, None, True, 0.1, 1e-2, False),
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    recorders = {name: Recorder("float32") for name in CASES}
    programs = {
        name: program_of(recorder, CASES[name][2](recorder, recorder.input(*CASES[name][1])))
        for name, recorder in recorders.items()
    }
    plans = [fused(each) for each in programs.values()]
    runs = build_all(plans, tmp_path_factory.mktemp("rows"))
    return {
        name: (programs[name], plan, run, recorders[name].given())
        for name, plan, run in zip(CASES, plans, runs, strict=True)
    }


@pytest.mark.parametrize("name", CASES)
def test_rows_are_right_and_run_the_way_they_should(made, name):
    program, plan, run, given = made[name]
    assert [each.family for each in plan.groups] == ["rows"]
    assert WAYS[CASES[name][0]] in emit(plan, TARGET).functions
    assert faults(program, run, given) == []


def test_a_softmax_reads_its_row_three_times_and_keeps_the_exponentials(made):
    (group,) = made["softmax"][1].groups
    columns = {each.name for each in group.axes["column"]}
    found = schedule(group.statements, columns, group.stored)
    assert len(found.passes) == 3
    assert len(found.kept) <= 1


def test_a_layer_norm_computes_its_differences_again_and_keeps_nothing(made):
    (group,) = made["layer norm"][1].groups
    columns = {each.name for each in group.axes["column"]}
    assert schedule(group.statements, columns, group.stored).kept == ()


def test_limits_are_those_of_machines_unless_said():
    assert TARGET.limits != Limits()
    assert Limits().parallel_points > 1000
