"""Whatever is asked in whatever order: the store in memory and the one in SQL say the same."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import invariant
from hypothesis.stateful import rule

from tests.conformance.job_store import EVENTS
from tests.conformance.job_store import PROBLEM
from tests.conformance.job_store import FakeClock
from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.sql_store import SqlStore
from xeforge.errors import XeForgeError

JOBS = st.sampled_from(["j1", "j2"])
STEPS = st.sampled_from(["describe", "run:t1"])
WORKERS = st.sampled_from(["a", "b"])


class StoresAgree(RuleBasedStateMachine):
    attempts = Bundle("attempts")

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.dead: set[str] = set()
        self.folder = tempfile.TemporaryDirectory()
        is_alive = lambda worker: worker not in self.dead  # noqa: E731
        path = Path(self.folder.name) / "jobs.sqlite3"
        self.stores = (
            MemoryStore(self.clock, is_alive=is_alive),
            SqlStore(path, self.clock, is_alive=is_alive),
        )

    def teardown(self) -> None:
        self.stores[1].close()
        self.folder.cleanup()

    def both(self, act):
        """Do the same to both; return what both answered."""
        answers = []
        for store in self.stores:
            try:
                answers.append(act(store))
            except XeForgeError as error:
                answers.append((type(error), str(error)))
        assert answers[0] == answers[1]
        return answers[0]

    @rule(job=JOBS)
    def create(self, job) -> None:
        self.both(lambda store: store.create(job, PROBLEM))

    @rule(target=attempts, job=JOBS, step=STEPS, worker=WORKERS, seconds=st.integers(1, 20))
    def lease(self, job, step, worker, seconds):
        return self.both(lambda store: store.lease(job, step, worker=worker, seconds=seconds))

    @rule(attempt=attempts, event=st.sampled_from(EVENTS))
    def record(self, attempt, event) -> None:
        if not isinstance(attempt, tuple):
            self.both(lambda store: store.record(attempt, event))

    @rule(attempt=attempts)
    def release(self, attempt) -> None:
        if not isinstance(attempt, tuple):
            self.both(lambda store: store.release(attempt))

    @rule(seconds=st.integers(1, 30))
    def wait(self, seconds) -> None:
        self.clock.advance(seconds=seconds)

    @rule(worker=WORKERS)
    def die(self, worker) -> None:
        self.dead.add(worker)

    @rule()
    def revive(self) -> None:
        self.dead.clear()

    @invariant()
    def wins_agree(self) -> None:
        self.both(lambda store: store.wins())

    @invariant()
    def histories_agree(self) -> None:
        for job in self.both(lambda store: store.jobs()):
            history = self.both(lambda store, job=job: store.history(job))
            assert [each.sequence for each in history.records] == list(range(len(history.records)))
            assert len({each.step for each in history.records}) == len(history.records)


TestStoresAgree = StoresAgree.TestCase
TestStoresAgree.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
