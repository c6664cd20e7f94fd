"""Every check of the self-test can fail, and fails for what it is there for."""

from dataclasses import replace

import pytest

from xeforge.domain.check import Basis
from xeforge.domain.evidence import Finding
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import rejected
from xeforge.domain.verdict import void
from xeforge.verify import selftest
from xeforge.verify.faster import compare

MEASURED = Basis.MEASURED


def quiet(make, ratio=1.0, seed=0):
    return make.drawn(ratio, sigma=0.004, control=40, seed=seed)


def test_a_a_passes_only_when_it_is_the_same(make):
    assert selftest.same(compare(quiet(make)), MEASURED).passed
    assert not selftest.same(compare(quiet(make, 1.1)), MEASURED).passed
    assert not selftest.same(compare(make.drawn(1.0, sigma=0.2, pairs=10)), MEASURED).passed


@pytest.mark.parametrize("seed", range(6))
def test_the_planted_slow_down_is_found_with_the_truth_inside(make, seed):
    check = selftest.planted(compare(quiet(make, 1 / 1.05, seed)), MEASURED)
    assert check.passed
    assert check.number == pytest.approx(1 / 1.05, abs=0.01)


@pytest.mark.parametrize("ratio", [1.0, 1.05, 1 / 1.09, 1 / 1.02])
def test_another_difference_than_the_planted_one_is_a_failure(make, ratio):
    assert not selftest.planted(compare(quiet(make, ratio)), MEASURED).passed


def test_swapped_roles_must_agree(make):
    there = quiet(make, 1 / 1.05)
    back = selftest.swapped(there)
    assert selftest.reciprocal(compare(there), compare(back), MEASURED).passed
    biased = quiet(make, 1.10, seed=2)
    assert not selftest.reciprocal(compare(there), compare(biased), MEASURED).passed
    assert not selftest.reciprocal(compare(there), compare(there), MEASURED).passed


def test_timed_outputs_must_have_been_checked_and_right(make):
    assert selftest.timed_outputs([quiet(make)]).passed
    assert not selftest.timed_outputs([replace(quiet(make), outputs_wrong=1)]).passed
    assert not selftest.timed_outputs([replace(quiet(make), outputs_checked=0)]).passed


def test_the_cost_model_must_give_the_planted_ratio(make):
    found = compare(make.samples([1.0] * 9, [1.05] * 9))
    assert selftest.modelled(found, truth=1 / 1.05, name="x").passed
    assert not selftest.modelled(found, truth=1.0, name="x").passed


def test_a_rejection_for_another_reason_is_a_failure():
    trial = Trial("empty", "twice", rejected(Reason.TIMEOUT, "late"))
    assert not selftest.rejected_as("empty", trial, Reason.INCORRECT_OUTPUT).passed
    assert selftest.rejected_as("empty", trial, Reason.TIMEOUT).passed
    accepted = Trial("empty", "twice", Verdict(Outcome.UNDECIDED, "right"))
    assert not selftest.rejected_as("empty", accepted, Reason.INCORRECT_OUTPUT).passed


def test_a_right_kernel_must_have_nothing_against_it_and_be_checked():
    def held(verdict, *findings):
        return selftest.right("x", Trial("x", "t", verdict, findings)).passed

    right = Verdict(Outcome.UNDECIDED, "right, but its speed was not compared")
    assert held(right)
    assert not held(right, Finding("ran", passed=False, reason="TIMEOUT", message="late"))
    assert not held(Verdict(Outcome.UNDECIDED, "s[0] was not checked: it was not run"))
    assert not held(void(VoidReason.ORACLE_FAILED, "no oracle"))


def test_simulated_clock_drops_must_each_be_noticed(make):
    drops = selftest.clock_drops(quiet(make))
    assert set(drops) == {"alike", "uneven", "hot"}
    assert "hardware thermal slowdown" in drops["hot"].conditions.throttle
    blind = Trial("twice", "twice", Verdict(Outcome.UNDECIDED, "right"))
    assert [each.passed for each in selftest.clock_drop_checks(blind, blind, blind)] == [False] * 3
