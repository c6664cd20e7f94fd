"""What does not compile or fit is refused; what merely could be better is not."""

from dataclasses import replace

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks.build import check


def test_good_build_passes_with_its_numbers(make):
    found = check(make.context())
    assert found.passed
    assert found.message == (
        "1 launches: at most 40 registers, 0 bytes spilled, 1,024 bytes on chip"
    )


def test_no_build_and_empty_build_pass(make):
    assert check(make.context(build=None)).passed
    assert check(make.context(build=replace(make.build(), reports=()))).passed


def test_compile_error_is_told_with_its_line(make):
    bad = make.build(make.report(error="CompilationError: at 7:4", line=7))
    found = check(make.context(build=bad))
    assert (found.reason, found.line) == (Reason.RUNTIME_ERROR, 7)
    assert "scale_kernel: CompilationError" in found.message


def test_host_code_that_raised_before_a_launch(make):
    bad = make.build(message="TypeError: no argument BLOCK", line=15)
    found = check(make.context(build=bad))
    assert (found.reason, found.line) == (Reason.RUNTIME_ERROR, 15)


@pytest.mark.parametrize(
    "words", ["ended by itself with exit status 0", "killed by SIGSEGV", "closed its channel"]
)
def test_a_child_that_is_gone_gave_no_result(make, words):
    found = check(make.context(build=make.build(message=words)))
    assert found.reason == Reason.NO_RESULT


@pytest.mark.parametrize(
    "words",
    ["printed more than 16 MiB", "memory limit of 16384 MiB reached", "disk limit of 1 MiB"],
)
def test_limits_passed_while_compiling_are_named_as_such(make, words):
    found = check(make.context(build=make.build(message=words)))
    assert found.reason == Reason.RESOURCE_LIMIT


@pytest.mark.parametrize("words", ["timed out after 60 s", "compile budget used up"])
def test_compile_time_used_up_has_its_own_class(make, words):
    found = check(make.context(build=make.build(make.report(error=words))))
    assert found.reason == Reason.COMPILE_BUDGET


def test_memory_beyond_the_device_is_refused(make):
    bad = make.build(make.report(shared_bytes=327_680))
    found = check(make.context(build=bad))
    assert found.reason == Reason.RESOURCE_LIMIT
    assert "327,680 bytes of on-chip memory, test-gpu has 232,448" in found.message
    unknown = make.changed_device(shared_bytes_per_group=None)
    assert check(make.context(build=bad, device=unknown)).passed


def test_spills_are_refused_unless_the_parent_spills_as_much(make):
    spilling = make.build(make.report(spill_bytes=500))
    found = check(make.context(build=spilling))
    assert found.reason == Reason.RESOURCE_LIMIT
    assert "spills 500 bytes per thread (limit 64)" in found.message
    assert found.numbers == {"spill_bytes": 500, "limit_bytes": 64}
    worse = make.build(make.report(spill_bytes=600, kernel="older_name"))
    assert check(make.context(build=spilling, parent_build=worse)).passed
    better = make.build(make.report(spill_bytes=100))
    found = check(make.context(build=spilling, parent_build=better))
    assert "the kernel it was made from 100" in found.message
    other = make.build(make.report(spill_bytes=900, workload="other[0]"))
    assert not check(make.context(build=spilling, parent_build=other)).passed


def test_spills_within_the_limit_or_unknown_pass(make):
    for spilled in (64, None):
        assert check(make.context(build=make.build(make.report(spill_bytes=spilled)))).passed
    unknown = make.changed_device(spill_bytes_per_thread=None)
    spilling = make.build(make.report(spill_bytes=500))
    assert check(make.context(build=spilling, device=unknown)).passed


def test_one_good_configuration_is_enough_for_a_tuned_kernel(make):
    good, bad = make.report(), make.report(shared_bytes=999_999)
    assert check(make.context(build=make.build(bad, good))).passed
    elsewhere = make.report(shared_bytes=999_999, workload="other[0]")
    assert not check(make.context(build=make.build(good, elsewhere))).passed
