"""What every job store must do. Subclass `JobStoreSuite` and supply `open_store`."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from xeforge.adapters.local_worker import IsAlive
from xeforge.domain.attempt import Attempt
from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Analyzed
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Described
from xeforge.domain.events import Finished
from xeforge.domain.events import Gated
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Resumed
from xeforge.domain.events import Skipped
from xeforge.domain.events import Voided
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Verdict
from xeforge.domain.wins import Effect
from xeforge.domain.wins import RecipeEffect
from xeforge.domain.wins import WinRecord
from xeforge.errors import BadRequest
from xeforge.errors import LeaseLost
from xeforge.errors import StoreConflict
from xeforge.ports import Clock
from xeforge.ports import JobStore

OpenStore = Callable[[Clock, IsAlive], JobStore]
THREADS = 8

PROBLEM = Problem(
    SourceFile("kernel.py", "import triton\n"),
    None,
    (
        Workload(
            "ci[0]",
            "ci",
            (TensorSpec("x", (4, 8), "float16", range=(0.0, 1.0), dims=("M", "N")),),
            (8, "relu", (1.5, True)),
            "float16",
            {"N": 8, "M": 4},
        ),
    ),
    "nvidia-h200",
    "cpu",
)
EVENTS = (
    Described(("float16[4, 8]",), ("weight",)),
    Analyzed((Issue("unfused", Severity.SPEED, "two kernels", 3),)),
    Planned(("fusion",), ("fusion: two kernels",), {"fusion.one": WinRecord(3, 1, 2, 2)}),
    Proposed(
        "fusion",
        "recipe_apply",
        0,
        (Candidate("t1", "t0", "fusion", "recipe_apply", "x", "", {}, recipes=("fusion.one",)),),
        skipped=(Skipped("drop_masks", ("memory.two",), "does not apply: has_masks"),),
    ),
    Gated("t1", ()),
    Judged(
        Trial(
            "t1",
            "t0",
            Verdict(Outcome.ACCEPTED, "1.5x", grade=Grade.MEASURED),
            ratio=Interval(1.5, 1.4, 1.6),
        ),
        (RecipeEffect("tiles.group_tile_rows", "nvidia-h200", Effect.WON),),
    ),
    Voided("run:t2", "DEVICE_LOST", "no answer"),
    Resumed(),
    Finished(JobOutcome.IMPROVED, "t1", "1.5x"),
)


TRIAL = Trial("t1", "t0", Verdict(Outcome.ACCEPTED, "1.5x", grade=Grade.MEASURED))


def judge(
    store: JobStore, job: str, candidate: str, effect: Effect, *recipes: str, device="nvidia-h200"
) -> Attempt:
    """Record a verdict that says something about recipes."""
    attempt = store.lease(job, f"judge:{candidate}", worker="a", seconds=30)
    effects = tuple(RecipeEffect(each, device, effect) for each in recipes)
    store.record(attempt, Judged(replace(TRIAL, candidate=candidate), effects))
    return attempt


class FakeClock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now_seconds(self) -> float:
        return self.seconds

    def advance(self, *, seconds: float) -> None:
        self.seconds += seconds


class JobStoreSuite:
    """Every store must pass this unchanged."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise AssertionError("a subclass supplies it")

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def dead(self) -> set[str]:
        """Workers whose process has ended."""
        return set()

    @pytest.fixture
    def store(self, open_store: OpenStore, clock: FakeClock, dead: set[str]) -> JobStore:
        store = open_store(clock, lambda worker: False if worker in dead else None)
        store.create("j1", PROBLEM)
        return store

    def test_a_new_job_has_its_problem_and_no_records(self, store: JobStore) -> None:
        assert store.history("j1") == History("j1", PROBLEM)
        assert list(store.history("j1").problem.workloads[0].dims) == ["N", "M"]

    def test_a_job_id_is_used_once(self, store: JobStore) -> None:
        with pytest.raises(StoreConflict, match="j1"):
            store.create("j1", PROBLEM)

    def test_jobs_are_listed_newest_first(self, store: JobStore, clock: FakeClock) -> None:
        store.create("a", PROBLEM)
        clock.advance(seconds=-50)
        store.create("z", PROBLEM)
        assert store.jobs() == ("z", "a", "j1")

    def test_unknown_jobs_are_named(self, store: JobStore) -> None:
        attempt = Attempt("nope", "describe", 1, "w", 2000.0)
        with pytest.raises(BadRequest, match="nope"):
            store.history("nope")
        with pytest.raises(BadRequest, match="nope"):
            store.lease("nope", "describe", worker="w", seconds=1)
        with pytest.raises(BadRequest, match="nope"):
            store.record(attempt, Resumed())
        store.release(attempt)

    def test_a_lease_says_who_and_until_when(self, store: JobStore) -> None:
        attempt = store.lease("j1", "describe", worker="a", seconds=30)
        assert attempt == Attempt("j1", "describe", 1, "a", 1030.0)

    def test_every_kind_of_event_comes_back_as_it_was(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        for number, event in enumerate(EVENTS):
            clock.advance(seconds=1)
            attempt = store.lease("j1", f"s{number}", worker="a", seconds=30)
            history = store.record(attempt, event)
            assert history.records[-1].event == event
            assert history.records[-1].sequence == number
            assert history.records[-1].step == f"s{number}"
            assert history.records[-1].at_seconds == 1001.0 + number
            assert store.history("j1") == history
        assert [each.event for each in store.history("j1").records] == list(EVENTS)

    def test_a_returned_history_does_not_change(self, store: JobStore) -> None:
        before = store.history("j1")
        after = store.record(store.lease("j1", "a", worker="w", seconds=30), Resumed())
        store.record(store.lease("j1", "b", worker="w", seconds=30), Resumed())
        assert len(before.records) == 0
        assert len(after.records) == 1

    def test_a_live_lease_is_refused_to_others_and_to_its_holder(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        store.lease("j1", "describe", worker="a", seconds=30)
        clock.advance(seconds=30)
        for worker in ("b", "a"):
            with pytest.raises(LeaseLost, match="describe of job j1 is leased to a"):
                store.lease("j1", "describe", worker=worker, seconds=30)

    def test_leases_of_other_steps_and_jobs_do_not_matter(self, store: JobStore) -> None:
        store.create("j2", PROBLEM)
        store.lease("j1", "build:t1", worker="a", seconds=30)
        assert store.lease("j1", "build:t2", worker="b", seconds=30).token == 1
        assert store.lease("j2", "build:t1", worker="b", seconds=30).token == 1

    def test_an_expired_lease_that_was_taken_cannot_record(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        old = store.lease("j1", "describe", worker="a", seconds=30)
        clock.advance(seconds=31)
        new = store.lease("j1", "describe", worker="b", seconds=30)
        assert new.token > old.token
        with pytest.raises(LeaseLost):
            store.record(old, EVENTS[0])
        assert store.history("j1").records == ()
        store.release(old)
        assert len(store.record(new, EVENTS[0]).records) == 1

    def test_an_expired_lease_that_nobody_took_still_records(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        attempt = store.lease("j1", "describe", worker="a", seconds=30)
        clock.advance(seconds=3000)
        assert len(store.record(attempt, EVENTS[0]).records) == 1

    def test_the_same_worker_may_lease_again_after_expiry(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        old = store.lease("j1", "describe", worker="a", seconds=30)
        clock.advance(seconds=31)
        new = store.lease("j1", "describe", worker="a", seconds=30)
        assert new.token > old.token
        with pytest.raises(LeaseLost):
            store.record(old, EVENTS[0])

    def test_the_lease_of_a_dead_worker_can_be_taken_at_once(
        self, store: JobStore, dead: set[str]
    ) -> None:
        old = store.lease("j1", "describe", worker="a", seconds=1800)
        dead.add("a")
        new = store.lease("j1", "describe", worker="b", seconds=1800)
        assert new.token > old.token
        with pytest.raises(LeaseLost):
            store.record(old, EVENTS[0])

    def test_a_released_step_can_be_leased_at_once_and_its_token_grows(
        self, store: JobStore
    ) -> None:
        old = store.lease("j1", "describe", worker="a", seconds=30)
        store.release(old)
        with pytest.raises(LeaseLost):
            store.record(old, EVENTS[0])
        new = store.lease("j1", "describe", worker="b", seconds=30)
        assert new.token > old.token
        store.release(old)
        with pytest.raises(LeaseLost):
            store.lease("j1", "describe", worker="c", seconds=30)

    def test_a_step_is_recorded_once(self, store: JobStore, clock: FakeClock) -> None:
        attempt = store.lease("j1", "describe", worker="a", seconds=30)
        store.record(attempt, EVENTS[0])
        with pytest.raises(StoreConflict, match="describe of job j1"):
            store.record(attempt, EVENTS[0])
        clock.advance(seconds=31)
        with pytest.raises(StoreConflict, match="describe of job j1"):
            store.lease("j1", "describe", worker="b", seconds=30)
        store.release(attempt)
        assert len(store.history("j1").records) == 1

    def test_a_new_store_has_seen_no_wins(self, store: JobStore) -> None:
        assert store.wins() == {}

    def test_effects_of_verdicts_are_added_up_over_jobs(self, store: JobStore) -> None:
        store.create("j2", PROBLEM)
        judge(store, "j1", "t1", Effect.WON, "a.one", "a.two")
        judge(store, "j1", "t2", Effect.LOST, "a.two")
        judge(store, "j2", "t1", Effect.WON, "a.two")
        judge(store, "j2", "t2", Effect.ESTIMATED_FASTER, "a.one", device="intel-b580")
        judge(store, "j2", "t3", Effect.ESTIMATED_NO_FASTER, "a.one", device="intel-b580")
        found = store.wins()
        assert found == {
            "intel-b580": {"a.one": WinRecord(0, 0, 2, 1)},
            "nvidia-h200": {"a.one": WinRecord(1, 1), "a.two": WinRecord(3, 2)},
        }
        assert [list(each) for each in found.values()] == [["a.one"], ["a.one", "a.two"]]

    def test_a_trial_counts_once_however_often_it_is_recorded(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        attempt = judge(store, "j1", "t1", Effect.WON, "a.one")
        with pytest.raises(StoreConflict):
            store.record(attempt, Judged(TRIAL, (RecipeEffect("a.one", "d", Effect.WON),)))
        clock.advance(seconds=31)
        with pytest.raises(StoreConflict):
            store.lease("j1", "judge:t1", worker="b", seconds=30)
        assert store.wins() == {"nvidia-h200": {"a.one": WinRecord(1, 1)}}

    def test_a_verdict_that_is_not_recorded_does_not_count(
        self, store: JobStore, clock: FakeClock
    ) -> None:
        old = store.lease("j1", "judge:t1", worker="a", seconds=30)
        clock.advance(seconds=31)
        store.lease("j1", "judge:t1", worker="b", seconds=30)
        with pytest.raises(LeaseLost):
            store.record(old, Judged(TRIAL, (RecipeEffect("a.one", "d", Effect.WON),)))
        assert store.wins() == {}

    @pytest.mark.parametrize(
        ("effect", "record"), [(Effect.LOST, WinRecord(1, 0)), (Effect.NOT_COUNTED, None)]
    )
    def test_a_confirmation_takes_back_what_the_trial_said(
        self, store: JobStore, effect: Effect, record: WinRecord | None
    ) -> None:
        judge(store, "j1", "t1", Effect.WON, "a.one")
        judge(store, "j1", "t2", Effect.WON, "a.two")
        attempt = store.lease("j1", "confirm:t1", worker="a", seconds=30)
        changed = (RecipeEffect("a.one", "nvidia-h200", effect),)
        store.record(attempt, Confirmed(TRIAL, (), (), changed))
        expected = {"a.two": WinRecord(1, 1)} | ({"a.one": record} if record else {})
        assert store.wins() == {"nvidia-h200": expected}

    def test_a_confirmation_that_holds_changes_nothing(self, store: JobStore) -> None:
        judge(store, "j1", "t1", Effect.WON, "a.one")
        attempt = store.lease("j1", "confirm:t1", worker="a", seconds=30)
        store.record(attempt, Confirmed(TRIAL, (), ()))
        assert store.wins() == {"nvidia-h200": {"a.one": WinRecord(1, 1)}}

    def test_of_many_threads_one_gets_the_lease(self, store: JobStore) -> None:
        def try_lease(worker: int) -> str:
            barrier.wait()
            try:
                store.lease("j1", "describe", worker=str(worker), seconds=30)
            except LeaseLost:
                return "lost"
            return "won"

        barrier = threading.Barrier(THREADS)
        with ThreadPoolExecutor(THREADS) as pool:
            results = list(pool.map(try_lease, range(THREADS)))
        assert sorted(results) == ["lost"] * (THREADS - 1) + ["won"]

    def test_of_many_threads_one_records_the_step(self, store: JobStore) -> None:
        def try_record(_: int) -> str:
            barrier.wait()
            try:
                store.record(attempt, EVENTS[0])
            except StoreConflict:
                return "lost"
            return "won"

        attempt = store.lease("j1", "describe", worker="a", seconds=30)
        barrier = threading.Barrier(THREADS)
        with ThreadPoolExecutor(THREADS) as pool:
            results = list(pool.map(try_record, range(THREADS)))
        assert sorted(results) == ["lost"] * (THREADS - 1) + ["won"]
        assert len(store.history("j1").records) == 1

    def test_concurrent_records_are_numbered_without_gaps(self, store: JobStore) -> None:
        def record_three(worker: int) -> None:
            barrier.wait()
            for number in range(3):
                step = f"build:t{worker}{number}"
                attempt = store.lease("j1", step, worker=str(worker), seconds=30)
                history = store.record(attempt, Gated(step, ()))
                assert step in {record.step for record in history.records}

        barrier = threading.Barrier(THREADS)
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(record_three, range(THREADS)))
        records = store.history("j1").records
        assert [record.sequence for record in records] == list(range(3 * THREADS))
        assert all(record.event == Gated(record.step, ()) for record in records)
