"""The self-test on this machine, and its measured half on an evaluator that plays a card."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from knowledge.load import find_device
from xeforge.app import bench
from xeforge.app.selftest import SelftestResult
from xeforge.app.selftest import conclusion
from xeforge.app.selftest import problem_for
from xeforge.app.selftest import recorded_series
from xeforge.app.selftest import selftest
from xeforge.app.selftest import source
from xeforge.domain.check import Basis
from xeforge.domain.check import Check
from xeforge.domain.codec import loads
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Launch
from xeforge.domain.evidence import OutputEvidence

WORK = {source("twice"): 1.0, source("twice_more"): 1.05}
DONE = {
    "a_a_is_same",
    "planted_slow_down_is_found",
    "swapped_roles_are_reciprocal",
    "right_kernel_is_right",
    "empty_kernel_is_rejected",
    "wrong_kernel_is_rejected",
    "death_is_rejected",
    "death_disturbs_nobody",
    "clock_drop_is_told",
    "uneven_clock_drop_is_undecided",
    "throttling_is_void",
}


class PlayedCard:
    """Answers as a bench with a card would; `faults` change what it sees."""

    is_interpreted = False

    def __init__(self, **faults):
        self.faults = faults
        self.generator = np.random.default_rng(1)

    def examine(self, problem, text, cases):
        return Evidence(
            tuple(self.case(text, each) for each in cases), (Launch("twice_kernel", (4,)),)
        )

    def case(self, text, case):
        if text == source("dies"):
            return CaseEvidence(
                case.id, str(case.kind), str(case.fill), CaseStatus.DIED, "exit status 3"
            )
        is_wrong = text in (source("wrong"), source("empty")) and not self.faults.get("is_blind")
        unwritten = 8 if is_wrong and text == source("empty") else 0
        shape = case.inputs[0].shape
        output = OutputEvidence(
            index=0,
            shape=shape,
            expected_shape=shape,
            dtype="float32",
            expected_dtype="float32",
            strides=(1,),
            expected_strides=(1,),
            device="cuda:0",
            wrong_count=8 if is_wrong else 0,
            unwritten_count=unwritten,
            nan_count=0,
            expected_nan_count=0,
            first_wrong=(0,) if is_wrong else None,
            first_got=2.5 if is_wrong else None,
            first_expected=2.0 if is_wrong else None,
            max_abs_error=0.5 if is_wrong else 0.0,
            error=0.1 if is_wrong else 0.0,
            reference_error=0.0,
            scale=8.0,
        )
        return CaseEvidence(
            case.id,
            str(case.kind),
            str(case.fill),
            CaseStatus.RAN,
            outputs=(output,),
            output_count=1,
            expected_output_count=1,
        )

    def measure(self, problem, first, second, workloads, plan):
        def side(work, count):
            return tuple(1e-3 * work * np.exp(self.generator.normal(0, 0.003, count)))

        bias = self.faults.get("bias", 1.0)
        series = recorded_series(workloads[0].name)
        times = side(WORK[first], 60), side(WORK[second] * bias, 60)
        return (
            replace(
                series,
                first_seconds=times[0],
                second_seconds=times[1],
                control_first_seconds=side(1.0, 40),
                control_second_seconds=side(1.0, 40),
            ),
        )


def tried(**faults):
    parts = SimpleNamespace(evaluator=PlayedCard(**faults), device=find_device("nvidia-h200"))
    return {each.name: each for each in selftest(parts, problem_for("nvidia-h200", "cuda"))}


def test_on_a_card_times_are_measured_and_everything_passes():
    checks = tried()
    assert set(checks) == DONE | {"timed_outputs_are_right"}
    assert [each for each in checks.values() if not each.passed] == []
    for name in ("a_a_is_same", "planted_slow_down_is_found", "swapped_roles_are_reciprocal"):
        assert checks[name].basis is Basis.MEASURED


def test_a_bench_that_favours_one_side_fails():
    checks = tried(bias=0.93)
    failed = {name for name, each in checks.items() if not each.passed}
    assert failed >= {"a_a_is_same", "planted_slow_down_is_found"}


def test_a_bench_that_does_not_see_wrong_values_fails():
    checks = tried(is_blind=True)
    assert not checks["empty_kernel_is_rejected"].passed
    assert not checks["wrong_kernel_is_rejected"].passed
    assert checks["death_is_rejected"].passed


def test_the_conclusion_says_what_was_not_measured():
    checks = tuple(tried().values())
    here = SelftestResult(1, True, "cuda", "nvidia-h200", "NVIDIA H200", "bubblewrap", checks)
    assert conclusion(here) == "all 12 checks passed; times were measured on NVIDIA H200"
    recorded = tuple(each for each in checks if each.basis is not Basis.MEASURED)
    assert "NOTHING WAS TIMED" in conclusion(replace(here, card="", checks=recorded))


@pytest.mark.slow
def test_the_bench_of_this_machine_passes_without_a_card(xeforge):
    outcome = xeforge("bench", "--selftest", "--device", "cpu", "--json")
    assert outcome.code == 0, outcome.out + outcome.err
    result = loads(SelftestResult, outcome.out)
    assert (result.format, result.backend, result.card) == (1, "cpu", "")
    assert result.passed
    names = {each.name for each in result.checks}
    assert names == DONE | {"model_a_a_is_same", "model_finds_planted_work"}
    assert Basis.MEASURED not in {each.basis for each in result.checks}
    assert set(json.loads(outcome.out)["checks"][0]) == {
        "name",
        "passed",
        "basis",
        "message",
        "number",
        "unit",
    }


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 5)])
def test_the_exit_code_is_that_of_the_worst_check(xeforge, monkeypatch, passed, code):
    check = Check("a_a_is_same", passed, Basis.MEASURED, "1.07", 1.07, "ratio")
    result = SelftestResult(1, passed, "cuda", "nvidia-h200", "Some Card", "bubblewrap", (check,))
    monkeypatch.setattr(bench, "try_bench", lambda *_, **__: result)
    outcome = xeforge("bench", "--selftest", "--device", "cpu", "--json")
    assert outcome.code == code
    assert set(json.loads(outcome.out)) == {
        "format",
        "passed",
        "backend",
        "target",
        "card",
        "sandbox",
        "checks",
    }
    told = xeforge("bench", "--selftest", "--device", "cpu")
    assert ("FAILED a_a_is_same (measured)" in told.out) == (not passed)


def test_kernels_and_selftest_do_not_mix(xeforge, kernel):
    outcome = xeforge("bench", kernel, "--selftest", "--device", "cpu")
    assert outcome.code == 2
    assert "takes no kernel" in outcome.said


def test_two_kernels_are_needed_otherwise(xeforge, kernel):
    outcome = xeforge("bench", kernel)
    assert outcome.code == 2
    assert "two kernels are needed" in outcome.said
