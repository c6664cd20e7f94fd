"""Properties of the engine over drawn jobs, and its decisions one by one."""

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from simulation import ACCEPTED
from simulation import SLOWER
from simulation import Simulation
from simulation import problem

from xeforge.domain.candidate import Candidate
from xeforge.domain.codec import dumps
from xeforge.domain.codec import loads
from xeforge.domain.device import Card
from xeforge.domain.events import Analyzed
from xeforge.domain.events import Audited
from xeforge.domain.events import Built
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Described
from xeforge.domain.events import Event
from xeforge.domain.events import Gated
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Ran
from xeforge.domain.events import Recorded
from xeforge.domain.events import Resumed
from xeforge.domain.events import Voided
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.domain.steps import NEEDS_DEVICE
from xeforge.domain.steps import Audit
from xeforge.domain.steps import Build
from xeforge.domain.steps import Confirm
from xeforge.domain.steps import Describe
from xeforge.domain.steps import Finish
from xeforge.domain.steps import Judge
from xeforge.domain.steps import Propose
from xeforge.domain.steps import Run
from xeforge.domain.steps import Step
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome
from xeforge.pipeline.engine import ready_steps

jobs = st.one_of(st.none(), st.integers(1, 40))


def history_of(*events: Event) -> History:
    records = tuple(Recorded(n, f"s{n}", float(n), each) for n, each in enumerate(events))
    return History("j", problem(), records)


@given(data=st.data(), trials=jobs)
@settings(max_examples=60, deadline=None)
def test_every_job_ends_with_a_confirmed_winner_or_none(data, trials):
    finished = Simulation(data.draw, History("j", problem(trials))).finish().finished
    assert finished is not None
    if finished.outcome is JobOutcome.IMPROVED:
        assert finished.winner is not None
    else:
        assert finished.winner is None


@given(data=st.data(), trials=jobs)
@settings(max_examples=40, deadline=None)
def test_the_incumbent_never_gets_worse(data, trials):
    simulation = Simulation(data.draw, History("j", problem(trials)))
    history = simulation.finish()
    best = 1.0
    for trial in history.trials():
        if trial.verdict.outcome is Outcome.ACCEPTED:
            assert simulation.true_seconds[trial.candidate] < best
            best = simulation.true_seconds[trial.candidate]
    finished = history.finished
    if finished is not None and finished.winner is not None:
        confirmed = history.confirmation(finished.winner)
        assert confirmed is not None
        assert confirmed.trial.verdict.outcome is Outcome.ACCEPTED


@given(data=st.data(), trials=jobs)
@settings(max_examples=25, deadline=None)
def test_a_replayed_prefix_asks_for_what_was_done_next(data, trials):
    simulation = Simulation(data.draw, History("j", problem(trials)))
    whole = simulation.finish()
    cut = data.draw(st.integers(0, len(whole.records) - 1))
    prefix = History("j", whole.problem, whole.records[:cut])
    stored = loads(tuple[Recorded, ...], dumps(prefix.records))
    again = History("j", whole.problem, stored)
    assert ready_steps(again) == ready_steps(prefix)
    recorded_next = whole.records[cut].step.split("#")[0]
    assert recorded_next in {step.id for step in ready_steps(again)}


@given(data=st.data(), trials=jobs)
@settings(max_examples=25, deadline=None)
def test_no_step_is_recorded_twice_and_the_device_is_asked_for_once(data, trials):
    simulation = Simulation(data.draw, History("j", problem(trials)))
    whole = simulation.finish()
    assert len(set(simulation.order)) == len(simulation.order)
    for cut in range(len(whole.records)):
        steps = ready_steps(History("j", whole.problem, whole.records[:cut]))
        assert len([step for step in steps if isinstance(step, NEEDS_DEVICE)]) <= 1
        assert len({step.id for step in steps}) == len(steps)


@given(data=st.data(), trials=st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_the_trial_budget_is_never_exceeded(data, trials):
    history = Simulation(data.draw, History("j", problem(trials))).finish()
    counted = [each for each in history.trials() if each.verdict.outcome is not Outcome.VOID]
    assert len(counted) <= trials


def test_a_new_job_is_described_first():
    assert ready_steps(history_of()) == (Describe(),)


def test_a_wrong_baseline_ends_the_job_before_anything_is_proposed():
    wrong = Audited(
        (Issue("unwritten", Severity.ERROR, "12 elements are never written"),),
        Evidence(()),
        BuildEvidence(()),
        (),
        (),
        (),
        None,
        None,
        "none",
    )
    (step,) = ready_steps(history_of(Described((), ()), wrong))
    assert isinstance(step, Finish)
    assert step.outcome == JobOutcome.BASELINE_WRONG
    assert "12 elements are never written" in step.message


def test_without_card_and_estimate_nothing_is_searched():
    blind = Audited(
        (),
        Evidence(()),
        BuildEvidence(()),
        (),
        ("ci",),
        ("speed cannot be estimated: x",),
        None,
        None,
        "",
    )
    (step,) = ready_steps(
        history_of(Described((), ()), blind, Analyzed(()), Planned(("autotuning",), ()))
    )
    assert isinstance(step, Finish)
    assert step.outcome == JobOutcome.UNCHANGED
    assert step.message == "speed cannot be estimated: x"


def test_without_a_case_that_is_right_nothing_is_searched():
    (step,) = opened_with(trusted=())
    assert isinstance(step, Finish)
    assert "on no case" in step.message


def opened_with(trusted: tuple[str, ...]) -> tuple[Step, ...]:
    card = Card("cuda", 0, "NVIDIA H200", "GPU-1", "580", "2.11", "3.6", 2**37)
    audited = Audited((), Evidence(()), BuildEvidence(()), (), trusted, (), card, None, "none")
    opening = (Described((), ()), audited, Analyzed(()), Planned(("autotuning",), ()))
    return ready_steps(history_of(*opening))


def test_a_platform_fault_is_retried_once_then_ends_the_job():
    once = history_of(Described((), ()), Voided("audit", "DEVICE_LOST", "gone"))
    assert ready_steps(once) == (Audit(),)
    twice = history_of(
        Described((), ()),
        Voided("audit", "DEVICE_LOST", "gone"),
        Voided("audit", "DEVICE_LOST", "gone again"),
    )
    (step,) = ready_steps(twice)
    assert isinstance(step, Finish)
    assert step.outcome == JobOutcome.PLATFORM_FAULT


def asked(*events: Event) -> Propose:
    card = Card("cuda", 0, "NVIDIA H200", "GPU-1", "580", "2.11", "3.6", 2**37)
    audited = Audited((), Evidence(()), BuildEvidence(()), (), ("ci",), (), card, None, "none")
    opening = (Described((), ()), audited, Analyzed(()), Planned(("dtype_fix", "autotuning"), ()))
    (step,) = ready_steps(history_of(*opening, *events))
    assert isinstance(step, Propose | Finish | Confirm)
    return step


def proposed(stage: str, proposer: str, number: int, parent: str, *names: str) -> Proposed:
    made = tuple(Candidate(each, parent, stage, proposer, each, "x", {}) for each in names)
    return Proposed(stage, proposer, number, made, parent)


def test_a_stage_is_asked_until_it_has_no_more_then_the_next_one():
    nothing = proposed("dtype_fix", "recipe_apply", 0, "t0")
    assert asked() == Propose("dtype_fix", "recipe_apply", 0, "t0", 4)
    assert asked(nothing) == Propose("autotuning", "config_search", 0, "t0", 4)


def test_a_later_improvement_opens_earlier_stages_once_more():
    history = (
        proposed("dtype_fix", "recipe_apply", 0, "t0"),
        proposed("autotuning", "config_search", 0, "t0", "t1"),
        Judged(Trial("t1", "t0", ACCEPTED)),
        proposed("autotuning", "config_search", 1, "t1"),
    )
    assert asked(*history) == Propose("dtype_fix", "recipe_apply", 1, "t1", 4)
    again = proposed("dtype_fix", "recipe_apply", 1, "t1")
    assert isinstance(asked(*history, again), Confirm)


def opened(*events: Event, trials: int | None = None) -> tuple[Step, ...]:
    card = Card("cuda", 0, "NVIDIA H200", "GPU-1", "580", "2.11", "3.6", 2**37)
    audited = Audited((), Evidence(()), BuildEvidence(()), (), ("ci",), (), card, None, "none")
    opening = (Described((), ()), audited, Analyzed(()), Planned(("autotuning",), ()))
    history = history_of(*opening, *events)
    return ready_steps(History("j", problem(trials), history.records))


def ready_to_run(name: str) -> tuple[Event, ...]:
    return Gated(name, ()), Built(name, BuildEvidence(()))


def test_runs_come_in_the_order_of_proposal_however_long_a_build_takes():
    batch = proposed("autotuning", "config_search", 0, "t0", "t1", "t2")
    assert opened(batch, Gated("t1", ()), *ready_to_run("t2")) == (Build("t1"),)
    both = (batch, *ready_to_run("t2"), *ready_to_run("t1"))
    assert opened(*both) == (Run("t1", "t0"),)


def test_what_could_not_be_built_is_judged_without_a_run():
    batch = proposed("autotuning", "config_search", 0, "t0", "t1")
    late = Built("t1", BuildEvidence((), "compiling passed its deadline of 120 s"))
    assert opened(batch, Gated("t1", ()), late) == (Judge("t1"),)


def test_a_verdict_comes_before_the_next_run():
    batch = proposed("autotuning", "config_search", 0, "t0", "t1", "t2")
    ran = Ran("t1", "t0", Evidence(()), (), ())
    steps = opened(batch, *ready_to_run("t1"), *ready_to_run("t2"), ran)
    assert steps == (Judge("t1"),)


def test_a_candidate_that_ran_is_judged_though_the_budget_is_used_up():
    batch = proposed("autotuning", "config_search", 0, "t0", "t1", "t2", "t3")
    ran = Ran("t2", "t0", Evidence(()), (), ())
    spent = (batch, *ready_to_run("t1"), Judged(Trial("t1", "t0", SLOWER)), ran)
    assert opened(*spent, trials=1) == (Judge("t2"),)
    (step,) = opened(*spent, Judged(Trial("t2", "t0", SLOWER)), trials=1)
    assert isinstance(step, Finish)


def test_a_refuted_winner_falls_back_to_the_one_before():
    history = history_of(
        Judged(Trial("t1", "t0", ACCEPTED)),
        Judged(Trial("t2", "t1", ACCEPTED)),
        Confirmed(Trial("t2", "t0", SLOWER), (), ()),
    )
    assert history.incumbent() == "t1"


def test_time_between_interruption_and_resumption_does_not_count():
    records = (
        Recorded(0, "describe", 100.0, Described((), ())),
        Recorded(1, "resume:1", 5000.0, Resumed()),
        Recorded(2, "audit", 5007.0, Voided("audit", "DEVICE_LOST", "x")),
    )
    assert History("j", problem(), records).elapsed_seconds() == pytest.approx(7.0)
