"""One verdict from everything recorded: the worst complaint, else the speed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Finding
from xeforge.domain.samples import Conditions
from xeforge.domain.samples import KernelWork
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Speed
from xeforge.domain.verdict import VoidReason
from xeforge.verify.judge import correctness
from xeforge.verify.judge import judge
from xeforge.verify.worst import WORST_FIRST
from xeforge.verify.worst import worst_first

CONTROL = ([1.0] * 20, [1.0] * 20)
BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


@pytest.fixture(scope="session")
def decide(make):
    """Judge a candidate that is right and built, with changes."""

    def decide(**changes):
        asked = changes.pop("problem", make.problem())
        audit = changes.pop("audit", None) or make.full_evidence(asked)
        given = {
            "problem": asked,
            "device": make.device,
            "candidate": "t3",
            "against": "t1",
            "gated": (),
            "build": make.build(),
            "evidence": make.full_evidence(asked, purpose="candidate"),
            "samples": (),
            "estimates": (),
            "incumbent_estimates": (),
            "audit": audit,
            "ceilings": None,
            "trusted": make.keys(audit),
        }
        return judge(**{**given, **changes})

    return decide


def timed(make, first, second, **changes):
    return (make.samples([first] * 30, [second] * 30, CONTROL, **changes),)


def test_measured_gain_is_accepted_with_its_numbers(make, decide):
    trial = decide(samples=timed(make, 1.2e-3, 1e-3))
    assert (trial.candidate, trial.against) == ("t3", "t1")
    assert trial.verdict.outcome is Outcome.ACCEPTED
    assert trial.verdict.grade is Grade.MEASURED
    assert trial.verdict.speed is Speed.FASTER
    assert trial.ratio.estimate == pytest.approx(1.2)
    (result,) = trial.results
    assert (result.incumbent_seconds, result.candidate_seconds) == (1.2e-3, 1e-3)
    assert result.floor_seconds == pytest.approx(2 * 64 * 48 * 2 / 4.8e12)
    assert trial.builds == make.build().reports
    assert "1.200x the incumbent's speed (95 % interval 1.200 to 1.200" in trial.verdict.message


def test_floor_of_the_bench_is_reported_when_it_gave_one(make, decide):
    trial = decide(samples=timed(make, 1.2e-3, 1e-3, floor_seconds=0.5e-3))
    assert trial.results[0].floor_seconds == 0.5e-3


@pytest.mark.parametrize(
    ("second", "speed"), [(1e-3, Speed.SAME), (1.2e-3, Speed.SLOWER), (1.01e-3, Speed.SAME)]
)
def test_no_gain_is_rejected_as_such(make, decide, second, speed):
    verdict = decide(samples=timed(make, 1e-3, second)).verdict
    assert (verdict.outcome, verdict.reason) == (Outcome.REJECTED, Reason.NO_SPEEDUP)
    assert (verdict.grade, verdict.speed) == (Grade.MEASURED, speed)


def test_slower_workload_is_named(make, decide):
    asked = make.problem(make.workload(), make.workload("bench-gpu[1]", rtol=0.5))
    samples = (
        *timed(make, 2e-3, 1e-3),
        *timed(make, 1e-3, 1.1e-3, workload="bench-gpu[1]"),
    )
    verdict = decide(problem=asked, samples=samples).verdict
    assert verdict.reason is Reason.NO_SPEEDUP
    assert "slower on bench-gpu[1] (0.909x)" in verdict.message


def test_noise_is_undecided(make, decide):
    verdict = decide(samples=(make.drawn(1.03, sigma=0.05, control=400, seed=5),)).verdict
    assert (verdict.outcome, verdict.speed) == (Outcome.UNDECIDED, Speed.UNDECIDED)
    assert verdict.grade is Grade.MEASURED


def test_estimates_are_used_and_labelled_when_there_are_no_samples(make, decide):
    before, after = (make.estimate(1.2),), (make.estimate(1.0),)
    trial = decide(estimates=after, incumbent_estimates=before)
    assert trial.verdict.outcome is Outcome.ACCEPTED
    assert trial.verdict.grade is Grade.ESTIMATED
    assert "an estimate, not a measurement" in trial.verdict.message
    same = decide(estimates=after, incumbent_estimates=after).verdict
    assert (same.reason, same.grade, same.speed) == (
        Reason.NO_SPEEDUP,
        Grade.ESTIMATED,
        Speed.SAME,
    )
    unknown = decide(estimates=after).verdict
    assert unknown.outcome is Outcome.UNDECIDED


def touching(estimate, unique_bytes):
    return replace(estimate, work=(KernelWork("k", 1, unique_bytes, 0.0, unique_bytes, {}, {}),))


def test_an_estimate_of_launches_that_do_not_do_the_work_is_refused(make, decide):
    asked = make.problem(make.workload(moved_bytes=48e6))
    before = touching(make.estimate(5.0), 48e6)
    hollow = touching(make.estimate(1.0), 3e3)
    trial = decide(problem=asked, estimates=(hollow,), incumbent_estimates=(before,))
    assert trial.verdict.reason is Reason.IMPLAUSIBLE_SPEEDUP
    assert "touching 3e+03 of 4.8e+07 compulsory bytes" in trial.verdict.message
    honest = touching(make.estimate(1.0), 47e6)
    accepted = decide(problem=asked, estimates=(honest,), incumbent_estimates=(before,))
    assert accepted.verdict.outcome is Outcome.ACCEPTED
    odd_spec = touching(make.estimate(5.0), 3e3)
    unclear = decide(problem=asked, estimates=(hollow,), incumbent_estimates=(odd_spec,))
    assert unclear.verdict.outcome is Outcome.ACCEPTED


def test_samples_win_over_estimates(make, decide):
    trial = decide(
        samples=timed(make, 1e-3, 1e-3),
        estimates=(make.estimate(1.0),),
        incumbent_estimates=(make.estimate(9.0),),
    )
    assert trial.verdict.grade is Grade.MEASURED
    assert trial.verdict.reason is Reason.NO_SPEEDUP


def test_missing_workload_is_never_a_win(make, decide):
    asked = make.problem(make.workload(), make.workload("bench-gpu[1]", rtol=0.5))
    verdict = decide(problem=asked, samples=timed(make, 2e-3, 1e-3)).verdict
    assert verdict.outcome is Outcome.UNDECIDED
    assert "not compared on bench-gpu[1]" in verdict.message
    estimated = decide(
        problem=asked, estimates=(make.estimate(1.0),), incumbent_estimates=(make.estimate(2.0),)
    )
    assert estimated.verdict.outcome is Outcome.UNDECIDED


def test_right_but_never_compared_is_undecided(decide):
    trial = decide()
    assert trial.verdict.outcome is Outcome.UNDECIDED
    assert trial.verdict.message == "right, but its speed was not compared"
    assert trial.ratio is None


def test_worst_finding_decides_and_all_are_kept(make, decide):
    wrong = make.ran(BASE, make.wrong, mutated_inputs=("X",))
    trial = decide(evidence=make.evidence(wrong), samples=timed(make, 2e-3, 1e-3))
    assert trial.verdict.reason is Reason.INPUT_MUTATION
    assert trial.verdict.message.startswith("mutation: on bench-gpu[0]")
    assert [each.check for each in trial.findings if not each.passed] == ["mutation", "incorrect"]
    assert trial.ratio is None
    assert trial.verdict.grade is None


def test_gate_findings_count(make, decide):
    refused = Finding("policy", passed=False, reason="POLICY_VIOLATION", message="imports socket")
    trial = decide(gated=(refused,), build=None, evidence=None)
    assert trial.verdict.reason is Reason.POLICY_VIOLATION
    assert trial.findings[0] == refused
    assert trial.builds == ()
    unnamed = Finding("policy", passed=False)
    assert decide(gated=(unnamed,)).verdict.reason is Reason.NO_RESULT


def test_failed_build_is_rejected_without_a_run(make, decide):
    bad = make.build(make.report(error="CompilationError", line=4))
    trial = decide(build=bad, evidence=None)
    assert trial.verdict.reason is Reason.RUNTIME_ERROR
    assert trial.findings[0].line == 4


def test_parent_build_excuses_spills(make, decide):
    spilling = make.build(make.report(spill_bytes=500))
    assert decide(build=spilling).verdict.reason is Reason.RESOURCE_LIMIT
    assert decide(build=spilling, parent_build=spilling).verdict.outcome is Outcome.UNDECIDED


def test_candidate_that_was_not_run_is_never_accepted(make, decide):
    verdict = decide(evidence=None, samples=timed(make, 2e-3, 1e-3)).verdict
    assert verdict.outcome is Outcome.UNDECIDED
    assert (
        verdict.message
        == "bench-gpu[0] was not checked: " + BASE.partition("#")[0] + " was not run"
    )


def test_unchecked_workload_is_undecided_never_accepted(make, decide):
    unchecked = make.ran(BASE, status=CaseStatus.UNCHECKED, message="bf16 dot")
    verdict = decide(evidence=make.evidence(unchecked), samples=timed(make, 2e-3, 1e-3)).verdict
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.message == "bench-gpu[0] was not checked: bf16 dot"
    silent = make.evidence(replace(unchecked, message=""))
    assert decide(evidence=silent).verdict.message == "bench-gpu[0] was not checked: unchecked"


def test_workload_the_baseline_was_not_shown_right_on_is_undecided(make, decide):
    verdict = decide(trusted=frozenset(), samples=timed(make, 2e-3, 1e-3)).verdict
    assert verdict.outcome is Outcome.UNDECIDED
    assert "the submitted kernel could not be shown to be right there" in verdict.message


def test_unchecked_timed_outputs_are_undecided(make, decide):
    verdict = decide(samples=timed(make, 2e-3, 1e-3, outputs_checked=0)).verdict
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.message == "no timed output was checked on bench-gpu[0]"


def test_oracle_that_fails_now_is_the_platforms_fault(make, decide):
    refused = make.ran(BASE, status=CaseStatus.REFERENCE_RAISED, message="OOM")
    verdict = decide(evidence=make.evidence(refused)).verdict
    assert (verdict.outcome, verdict.void_reason) == (Outcome.VOID, VoidReason.ORACLE_FAILED)
    assert "the reference raised: OOM" in verdict.message
    asked = make.problem()
    ragged = next(key for key in make.keys(make.full_evidence(asked)) if "/ragged/" in key)
    odd = make.ran(f"{ragged}#1", status=CaseStatus.REFERENCE_RAISED)
    right = make.evidence(make.ran(BASE), odd)
    assert decide(evidence=right).verdict.outcome is Outcome.UNDECIDED


def test_interpreted_plan_is_matched_to_interpreted_evidence(make, decide):
    asked = make.problem(make.workload(inputs=(make.tensor(shape=(4096, 4096)),)))
    audit = make.full_evidence(asked, interpreted=True)
    seen = make.full_evidence(asked, interpreted=True, purpose="candidate")
    trial = decide(
        problem=asked,
        audit=audit,
        evidence=seen,
        estimates=(make.estimate(1.0),),
        incumbent_estimates=(make.estimate(2.0),),
    )
    assert trial.verdict.outcome is Outcome.ACCEPTED


def test_file_workload_has_no_floor(make, decide):
    asked = make.problem(make.workload("file[0]", inputs=(), init_args=None, from_file=True))
    samples = timed(make, 2e-3, 1e-3, workload="file[0]")
    trial = decide(problem=asked, samples=samples)
    assert trial.verdict.outcome is Outcome.ACCEPTED
    assert trial.results[0].floor_seconds is None


def test_unknown_sampled_workload_has_no_floor(make, decide):
    samples = (*timed(make, 2e-3, 1e-3), *timed(make, 2e-3, 1e-3, workload="gone[0]"))
    assert decide(samples=samples).results[1].floor_seconds is None


def test_correctness_alone_is_asked_before_timing(make):
    asked = make.problem()
    audit = make.full_evidence(asked)

    def ask(evidence):
        return correctness(
            problem=asked,
            device=make.device,
            build=None,
            evidence=evidence,
            audit=audit,
            trusted=make.keys(audit),
        )

    assert all(each.passed for each in ask(make.full_evidence(asked, purpose="candidate")))
    assert not ask(make.evidence(make.ran(BASE, make.wrong)))[0].passed


def test_every_reason_has_its_place_in_the_order():
    assert set(WORST_FIRST) == set(Reason)
    assert len(WORST_FIRST) == len(Reason)


def test_passed_findings_come_last():
    bad = Finding("a", passed=False, reason="NO_SPEEDUP")
    worse = Finding("b", passed=False, reason="HARNESS_TAMPERING")
    fine = Finding("c", passed=True)
    assert worst_first([fine, bad, worse]) == (worse, bad, fine)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_complaints_never_end_in_acceptance(make, decide, data):
    reasons = data.draw(st.lists(st.sampled_from(list(Reason)), min_size=1, max_size=4))
    gated = tuple(Finding("g", passed=False, reason=str(each)) for each in reasons)
    trial = decide(gated=gated, samples=timed(make, 2e-3, 1e-3))
    assert trial.verdict.outcome is Outcome.REJECTED
    assert trial.verdict.reason is min(reasons, key=WORST_FIRST.index)


def test_a_run_on_an_unfit_card_is_void_however_fast(make, decide):
    conditions = Conditions((1980, 1200), (60, 95), ("hardware thermal slowdown",))
    trial = decide(samples=timed(make, 1.2e-3, 1e-3, conditions=conditions))
    assert trial.verdict.outcome is Outcome.VOID
    assert trial.verdict.void_reason is VoidReason.DEVICE_UNHEALTHY


def test_a_wrong_kernel_is_rejected_on_an_unfit_card_too(make, decide):
    conditions = Conditions(throttle=("hardware slowdown",))
    asked = make.problem()
    wrong = make.full_evidence(
        asked,
        purpose="candidate",
        change=lambda case: replace(case, outputs=(make.output(wrong_count=3),)),
    )
    trial = decide(evidence=wrong, samples=timed(make, 1.2e-3, 1e-3, conditions=conditions))
    assert trial.verdict.reason is Reason.INCORRECT_OUTPUT
