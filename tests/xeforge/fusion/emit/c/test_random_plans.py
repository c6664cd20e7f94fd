"""Random programs through C, against the interpreter."""

import pytest

from tests.xeforge.fusion.emit.c.programs import build_all
from tests.xeforge.fusion.emit.c.programs import faults
from tests.xeforge.fusion.emit.c.programs import fused
from tests.xeforge.fusion.emit.c.programs import in_dtype
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion.emit.c.source import FAMILIES
from xeforge.fusion.plan import unfused

DTYPES = ("float64", "float32", "float32", "float16", "bfloat16")


@pytest.fixture(scope="module")
def grown():
    growers = [Grower(7000 + at, 1 + at % 9) for at in range(40)]
    programs = [program_of(each.recorder, *each.outputs()) for each in growers]
    changed = [in_dtype(each, DTYPES[at % len(DTYPES)]) for at, each in enumerate(programs)]
    return changed, [each.recorder.given() for each in growers]


@pytest.mark.parametrize("planned", [unfused, fused])
def test_plans_of_random_programs(grown, planned, tmp_path):
    programs, given = grown
    compiled = build_all([planned(each) for each in programs], tmp_path)
    found = {
        at: faults(program, run, values)
        for at, (program, run, values) in enumerate(zip(programs, compiled, given, strict=True))
    }
    assert {at: each for at, each in found.items() if each} == {}


def test_every_family_is_among_the_fused_plans(grown):
    found = {group.family for each in grown[0] for group in fused(each).groups}
    assert found == set(FAMILIES)
