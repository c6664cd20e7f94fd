"""Values outside the tolerance are told with place and share."""

import dataclasses

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import incorrect

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, case=BASE, **changes):
    return make.context(evidence=make.evidence(make.ran(case, *outputs, **changes)))


def test_wrong_values_are_told_with_place_and_share(make):
    found = incorrect.check(seen(make, make.wrong))
    assert found.reason == Reason.INCORRECT_OUTPUT
    assert "element [3, 17] is 0.5, expected 1.25; 12 of 3,072 wrong (0.39 %)" in found.message
    assert found.numbers == {"wrong": 12, "max_abs_error": 1e-3}


def test_wrong_tile_is_named(make):
    given = make.build(make.report(constants={"BLOCK_M": "2", "BLOCK_N": "16", "K": "x"}))
    found = incorrect.check(
        make.context(build=given, evidence=make.evidence(make.ran(BASE, make.wrong)))
    )
    assert "tile (1, 1) of 2x16" in found.message


def test_autotune_configuration_is_named(make):
    found = incorrect.check(seen(make, make.wrong, message="autotune configuration BLOCK=32"))
    assert "(autotune configuration BLOCK=32)" in found.message


def test_other_wrong_cases_are_counted(make):
    given = make.evidence(make.ran(BASE, make.wrong), make.ran(BASE + "1", make.wrong))
    assert "(and on 1 more cases)" in incorrect.check(make.context(evidence=given)).message


LARGE = "bench-gpu[0]/special/large/M=64,N=48#5"


def cancelled(make, case=LARGE, **changes):
    facts = {"wrong_count": 1, "max_abs_error": 51.8, "scale": 2.76e9, **changes}
    output = dataclasses.replace(make.wrong, **facts)
    found = make.evidence(make.ran(case, output))
    return incorrect.check(make.context(audit=make.evidence(make.ran(case)), evidence=found))


def test_a_sum_of_huge_terms_that_cancels_is_not_held_against_a_kernel(make):
    assert cancelled(make).passed


@pytest.mark.parametrize(
    "changes",
    [
        {"max_abs_error": 1e5},
        {"max_abs_error": float("inf")},
        {"wrong_count": 16},
        {"nan_count": 1},
        {"scale": 1e3},
        {"case": BASE},
        {"case": "bench-gpu[0]/special/offset/M=64,N=48#5"},
    ],
)
def test_more_than_rounding_of_a_few_is(make, changes):
    assert not cancelled(make, **changes).passed
