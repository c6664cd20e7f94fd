"""Floors count what must move, at rates that the card can reach."""

import pytest

from xeforge.domain.device import Ceilings
from xeforge.domain.trial import WorkloadResult
from xeforge.domain.verdict import Interval
from xeforge.verify import floors

MATRIX = 8192 * 8192 * 2


def large(make, **changes):
    return make.workload(inputs=(make.tensor(shape=(8192, 8192)),), **changes)


def returned(make):
    return (make.output(expected_shape=(8192, 8192)),)


def result(seconds, floor=None, workload="bench-gpu[0]"):
    return WorkloadResult(workload, 1.0, 1.0, seconds, Interval(1, 1, 1), floor)


def test_inputs_and_outputs_are_moved_once(make):
    assert floors.compulsory_bytes(large(make)) == MATRIX
    assert floors.compulsory_bytes(large(make), returned(make)) == 2 * MATRIX


def test_spec_has_the_last_word_on_traffic(make):
    assert floors.compulsory_bytes(large(make, moved_bytes=7.0), returned(make)) == 7.0


def test_nothing_is_claimed_beside_index_tensors_or_unknown_formats(make):
    index = make.tensor(name="I", dtype="int64")
    assert floors.compulsory_bytes(make.workload(inputs=(make.tensor(), index))) is None
    odd = make.tensor(dtype="complex64")
    assert floors.compulsory_bytes(make.workload(inputs=(odd,))) is None
    assert floors.compulsory_bytes(make.workload(inputs=(), from_file=True)) is None


def test_output_of_unknown_format_is_not_counted(make):
    odd = (make.output(expected_dtype="complex64"),)
    assert floors.compulsory_bytes(large(make), odd) == MATRIX


def test_outputs_are_taken_from_the_workloads_own_shapes(make):
    own = make.ran("bench-gpu[0]/declared/random/M=8192,N=8192#1", make.output(index=1))
    shrunk = make.ran("bench-gpu[0]/shrunk/random/M=512,N=512#1")
    other = make.ran("bench-gpu-wide[0]/declared/random/M=1,N=1#1")
    seen = make.evidence(shrunk, other, own)
    assert floors.outputs_of(large(make), seen) == own.outputs
    assert floors.outputs_of(large(make), make.evidence(shrunk, other)) == ()


def test_arithmetic_goes_by_the_modules_format_else_the_first_floats(make):
    assert floors.operand_dtype(make.workload(dtype="half")) == "float16"
    assert floors.operand_dtype(make.workload(dtype="float4")) == "float4"
    inputs = (make.tensor(dtype="int64"), make.tensor(dtype="bfloat16"))
    assert floors.operand_dtype(make.workload(dtype=None, inputs=inputs)) == "bfloat16"
    assert floors.operand_dtype(make.workload(dtype=None, inputs=())) == "float32"


def test_roofline_is_the_slower_of_bytes_and_arithmetic(make):
    assert floors.roofline_seconds(large(make), make.device) == pytest.approx(MATRIX / 4.8e12)
    product = large(make, flops=1e15)
    assert floors.roofline_seconds(product, make.device) == pytest.approx(1e15 / 989e12)
    measured = Ceilings(copy_bytes_per_s=4e12, matrix_flops_per_s={"float16": 700e12})
    assert floors.roofline_seconds(product, make.device, measured) == pytest.approx(1e15 / 700e12)
    assert floors.roofline_seconds(large(make), make.device, measured) == pytest.approx(
        MATRIX / 4e12
    )


def test_roofline_is_unknown_when_nothing_is_known(make):
    given = make.workload(inputs=(), from_file=True)
    assert floors.roofline_seconds(given, make.device) is None
    odd = make.workload(inputs=(), dtype="float4", flops=1e9)
    assert floors.flops_seconds(odd, make.device) is None


def test_float32_products_may_run_at_the_tf32_rate(make):
    given = large(make, dtype="float32", flops=494e12)
    assert floors.flops_seconds(given, make.device) == pytest.approx(1.0)


def test_hard_floor_leaves_out_what_the_cache_can_hide(make):
    moved = 2 * MATRIX
    hidden = (moved - make.device.l2_bytes) / 4.8e12
    given = floors.hard_floor_seconds(large(make), make.device, None, returned(make))
    assert given == pytest.approx(hidden)
    small = make.workload(inputs=(make.tensor(shape=(1024, 1024)),))
    assert floors.hard_floor_seconds(small, make.device) == pytest.approx(2**21 / 8e12)


def test_hard_floor_uses_the_better_of_peak_and_measured_copy(make):
    slow = Ceilings(copy_bytes_per_s=3e12, matrix_flops_per_s={})
    fast = Ceilings(copy_bytes_per_s=6e12, matrix_flops_per_s={})
    moved = MATRIX - make.device.l2_bytes
    assert floors.hard_floor_seconds(large(make), make.device, slow) == pytest.approx(
        moved / 4.8e12
    )
    bare = make.changed_device(l2_bandwidth_bytes_per_s=None)
    assert floors.hard_floor_seconds(large(make), bare, fast) == pytest.approx(moved / 6e12)
    file = make.workload(inputs=(), from_file=True)
    assert floors.hard_floor_seconds(file, make.device) is None
