"""The store that forgets passes the suite of the durable ones."""

import pytest

from tests.conformance.job_store import EVENTS
from tests.conformance.job_store import PROBLEM
from tests.conformance.job_store import FakeClock
from tests.conformance.job_store import JobStoreSuite
from tests.conformance.job_store import OpenStore
from xeforge.adapters.local_worker import local_worker
from xeforge.adapters.memory_store import MemoryStore
from xeforge.domain.events import Gated
from xeforge.domain.evidence import Finding
from xeforge.errors import LeaseLost


class TestMemoryStore(JobStoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        return lambda clock, is_alive: MemoryStore(clock, is_alive=is_alive)


def test_what_could_not_be_stored_fails_here_too() -> None:
    store = MemoryStore(FakeClock())
    store.create("j1", PROBLEM)
    attempt = store.lease("j1", "gate:t1", worker="a", seconds=30)
    with pytest.raises(TypeError):
        store.record(attempt, Gated("t1", (Finding("x", passed=object()),)))
    assert store.history("j1").records == ()


def test_a_lease_of_this_very_process_is_live() -> None:
    store = MemoryStore(FakeClock())
    store.create("j1", PROBLEM)
    store.lease("j1", "describe", worker=local_worker(), seconds=30)
    with pytest.raises(LeaseLost):
        store.lease("j1", "describe", worker="other", seconds=30)
    assert EVENTS[0] not in [record.event for record in store.history("j1").records]
