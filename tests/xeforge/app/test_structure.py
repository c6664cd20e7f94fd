"""`xeforge structure`: exit codes and the words that carry the strength."""

import pytest

from knowledge.load import find_device
from xeforge.app import structure
from xeforge.app.exit_codes import ExitCode
from xeforge.domain.lowering import LaunchLowering
from xeforge.domain.lowering import Lowered
from xeforge.domain.lowering import Native
from xeforge.domain.lowering import Strength
from xeforge.domain.lowering import Structure

LOWERED = Lowered(("executionSize = 16",), 8, ("f16",), 2, 4, 4, 0, 16, 32, 2, "large", 9000)
NATIVE = Native("", 16, 128, 86, has_dpas=True)


def a_launch(reached=Strength.NATIVE, **changes):
    fields = {"lowered": LOWERED, "native": NATIVE, "refused": "", **changes}
    nothing = {"broken_limits": (), "lowering_doubts": (), "native_doubts": ()}
    return LaunchLowering("mm", "bench[0]", {"BM": "128"}, reached=reached, **(nothing | fields))


LACKING = a_launch(Strength.PARSED, lowered=None, native=None, refused="no descriptors")
TOO_BIG = a_launch(broken_limits=("262144 B of SLM",))


@pytest.mark.parametrize(
    ("launches", "code"),
    [
        ((a_launch(),), ExitCode.FASTER),
        ((a_launch(Strength.LOWERED, native=None),), ExitCode.FASTER),
        ((a_launch(), LACKING), ExitCode.PLATFORM_FAULT),
        ((LACKING, TOO_BIG), ExitCode.BASELINE_WRONG),
        ((), ExitCode.PLATFORM_FAULT),
    ],
)
def test_the_exit_code_says_whether_every_launch_was_lowered_within_limits(launches, code):
    assert structure.verdict(Structure("k.py", "intel-b580", (), launches, ())) is code


def test_every_statement_stands_under_the_name_of_its_strength(capfd):
    undefined = a_launch(Strength.LOWERED, native_doubts=("4 undefined symbols: a, b, c, d",))
    found = Structure("k.py", "intel-b580", (), (a_launch(), undefined, LACKING), ("a note",))
    structure._print(found)
    lines = [line.strip() for line in capfd.readouterr().out.splitlines()]
    assert "parsed: no static rule complains" in lines
    assert (
        "native for pvc: SIMD16, 128 GRF, spilled around 86, 0 undefined symbols, has_dpas true"
        in lines
    )
    assert "native for pvc: NOT reached: 4 undefined symbols: a, b, c, d" in lines
    assert "cannot be lowered by triton-xpu 3.3: no descriptors" in lines
    assert sum(line.startswith("lowered for bmg: 8 DPAS (f16), 2D block reads 2") for line in lines)
    assert any(line.startswith("numerics: not looked at here") for line in lines)
    assert lines[-1].startswith("Never shown by any of these: timing, occupancy, correctness")


def test_without_the_environment_the_command_that_makes_it_is_named(
    xeforge, kernel, monkeypatch, tmp_path
):
    monkeypatch.setenv("XEFORGE_INTEL_ENV", str(tmp_path / "absent"))
    outcome = xeforge("structure", kernel)
    assert outcome.code == ExitCode.PLATFORM_FAULT
    assert "remedy: make intel-check" in outcome.said
    row = structure.structure_row()
    assert (row.works, row.is_required) == (False, False)
    assert "make intel-check" in row.remedy


def test_the_target_is_one_whose_properties_are_declared():
    from bench_workers.host.lowering import declared_properties

    properties = declared_properties(find_device(structure._TARGET))
    assert properties["name"] == "bmg"
    assert properties["sub_group_sizes"] == [16, 32]
