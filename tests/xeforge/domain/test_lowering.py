"""What lowered and native code prove, and what not."""

from dataclasses import replace

from knowledge.load import find_device
from xeforge.domain.lowering import Lowered
from xeforge.domain.lowering import Native
from xeforge.domain.lowering import broken_limits
from xeforge.domain.lowering import lowering_doubts
from xeforge.domain.lowering import native_doubts

B580 = find_device("intel-b580")
LOWERED = Lowered((), 8, ("f16",), 0, 0, 0, 34816, 16, 32, 2, "default", 9000)
NATIVE = Native("", 16, 128, 86, has_dpas=True)


def test_a_launch_within_all_limits_is_not_complained_about():
    assert broken_limits(replace(LOWERED, slm_bytes=131072, num_warps=64), B580) == ()
    assert lowering_doubts(LOWERED, B580) == ()
    assert native_doubts(LOWERED, NATIVE) == ()


def test_too_much_local_memory_and_too_wide_a_group_are_named_with_their_limits():
    memory, group = broken_limits(
        replace(LOWERED, slm_bytes=131073, num_warps=64, sub_group_width=32), B580
    )
    assert memory == "131073 B of SLM, the device gives a work-group 131072 B"
    assert group == "work-group of 64 x 32 = 2048 lanes, the device takes 1024"


def test_tf32_products_are_not_those_of_a_device_without_them():
    (doubt,) = lowering_doubts(replace(LOWERED, dpas_operands=("tf32",)), B580)
    assert "which the device does not report" in doubt
    other = replace(B580, matrix_flops_per_s={"tf32": 1.0})
    assert lowering_doubts(replace(LOWERED, dpas_operands=("tf32",)), other) == ()


def test_a_build_that_succeeded_is_no_proof():
    undefined = replace(NATIVE, undefined=("read", "write"))
    assert native_doubts(LOWERED, undefined) == ("2 undefined symbols: read, write",)
    (gone,) = native_doubts(LOWERED, replace(NATIVE, has_dpas=False))
    assert "are gone" in gone
    assert native_doubts(replace(LOWERED, dpas_calls=0), replace(NATIVE, has_dpas=False)) == ()
    assert native_doubts(LOWERED, Native("ocloc ended with 1")) == ("ocloc ended with 1",)
