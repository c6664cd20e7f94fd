"""Wrong elements are put into words a person can act on."""

import pytest

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import MemoryFault
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_fault
from xeforge.verify.places import describe_tile
from xeforge.verify.places import describe_wrong
from xeforge.verify.places import listed


def test_wrong_element_value_share_and_tile(make):
    given = make.output(
        expected_shape=(256, 256),
        wrong_count=1024,
        first_wrong=(3, 200),
        first_got=0.5,
        first_expected=1.25,
    )
    build = make.build(make.report(constants={"BLOCK_M": "64", "BLOCK_N": "64"}))
    assert describe_wrong(given, build) == (
        "element [3, 200] is 0.5, expected 1.25; 1,024 of 65,536 wrong (1.6 %), tile (0, 3) of "
        "64x64"
    )


def test_later_outputs_are_numbered_and_missing_facts_left_out(make):
    given = make.output(index=1, expected_shape=(), wrong_count=1)
    assert describe_wrong(given, None) == "output 1: 1 of 1 wrong (1e+02 %)"
    nothing = make.output(expected_shape=(0, 4), wrong_count=1, first_wrong=(0, 0))
    assert describe_wrong(nothing, None) == (
        "element [0, 0] is unknown, expected unknown; 1 of 0 wrong (0 %)"
    )


@pytest.mark.parametrize(
    ("constants", "index", "text"),
    [
        ({"BLOCK_M": "64", "BLOCK_N": "32"}, (70, 33), "tile (1, 1) of 64x32"),
        ({"BM": "64", "BN": "32", "BK": "16"}, (2, 70, 33), "tile (1, 1) of 64x32"),
        (
            {"BLOCK_SIZE_M": "64", "BLOCK_SIZE_N": "32", "GROUP_M": "8"},
            (70, 33),
            "tile (1, 1) of 64x32",
        ),
        ({"BLOCK": "128"}, (300,), "tile (2,) of 128"),
        ({"BLOCK_SIZE": "128"}, (300, 4), ""),
        ({"BLOCK_M": "64", "OTHER_BLOCK_M": "32", "BLOCK_N": "8"}, (70, 33), ""),
        ({"BLOCK": "fp16"}, (300,), ""),
        ({"BLOCK": "0"}, (300,), ""),
        ({"BLOCK": "128"}, (), ""),
    ],
)
def test_tiles_are_named_only_when_they_are_sure(make, constants, index, text):
    given = make.output(first_wrong=index)
    assert describe_tile(given, make.build(make.report(constants=constants))) == text


def test_first_report_that_knows_its_blocks_is_used(make):
    build = make.build(make.report(constants={}), make.report(constants={"BLOCK": "2"}))
    assert describe_tile(make.output(first_wrong=(5,)), build) == "tile (2,) of 2"
    assert describe_tile(make.output(first_wrong=None), build) == ""
    assert describe_tile(make.output(first_wrong=(5,)), None) == ""


def test_faults_are_placed_before_or_after_the_start():
    before = MemoryFault("read", "", None, "x_ptr", (), -8)
    assert describe_fault(before) == "out-of-bounds read of x_ptr: byte 8 before its start"
    after = MemoryFault("write", "k", 3, "y_ptr", (1, 0), 4096)
    assert describe_fault(after) == (
        "out-of-bounds write of y_ptr in k: byte 4,096 from its start, program (1, 0)"
    )


def test_lists_name_some_and_count_the_rest():
    assert listed(["a", "b", "a"]) == "a; b"
    assert listed(["a", "b", "c", "d", "e"]) == "a; b; c; and 2 more"


def test_case_names_its_autotune_configuration_only_when_it_ran(make):
    case = make.ran("w[0]/ragged/random/M=1#3", message="autotune configuration BLOCK=32")
    assert describe_case(case) == "on w[0]/ragged/random/M=1 (autotune configuration BLOCK=32)"
    raised = make.ran("w[0]/ragged/random/M=1#3", message="boom", status=CaseStatus.RAISED)
    assert describe_case(raised) == "on w[0]/ragged/random/M=1"
