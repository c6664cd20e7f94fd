"""The SQLite store passes the suite, shares its file between processes and survives kills."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.conformance.job_store import EVENTS
from tests.conformance.job_store import PROBLEM
from tests.conformance.job_store import FakeClock
from tests.conformance.job_store import JobStoreSuite
from tests.conformance.job_store import OpenStore
from xeforge.adapters.local_worker import local_worker
from xeforge.adapters.sql_store import SqlStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.domain.codec import dumps
from xeforge.domain.events import Gated
from xeforge.domain.events import Resumed
from xeforge.errors import BadRequest
from xeforge.errors import LeaseLost
from xeforge.errors import ToolchainMissing

RIVAL = Path(__file__).with_name("rival.py")


class TestSqlStore(JobStoreSuite):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[OpenStore]:
        opened = []

        def open_one(clock, is_alive) -> SqlStore:
            opened.append(SqlStore(tmp_path / "jobs.sqlite3", clock, is_alive=is_alive))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()

    def test_another_store_on_the_file_sees_everything(self, open_store, clock) -> None:
        first = open_store(clock, lambda _: None)
        second = open_store(clock, lambda _: None)
        first.create("j1", PROBLEM)
        for number, event in enumerate(EVENTS):
            writer, reader = (first, second) if number % 2 else (second, first)
            attempt = writer.lease("j1", f"s{number}", worker="a", seconds=30)
            written = writer.record(attempt, event)
            assert reader.history("j1") == written
        third = open_store(clock, lambda _: None)
        assert third.history("j1") == first.history("j1")
        assert len(third.history("j1").records) == len(EVENTS)

    def test_only_new_events_are_decoded(self, store, monkeypatch) -> None:
        decoded = []
        decode = SqlStore._decode

        def spy(self, body):
            decoded.append(body)
            return decode(self, body)

        monkeypatch.setattr(SqlStore, "_decode", spy)
        for number in range(20):
            attempt = store.lease("j1", f"s{number}", worker="a", seconds=30)
            store.record(attempt, Resumed())
            store.history("j1")
        assert len(decoded) == 20

    def test_many_jobs_do_not_fill_the_memory(self, store) -> None:
        for number in range(40):
            store.create(f"k{number}", PROBLEM)
            store.history(f"k{number}")
        assert len(store._cache) <= 16
        assert store.history("k0").problem == PROBLEM

    def test_an_interrupted_write_leaves_nothing_behind(self, store, monkeypatch) -> None:
        def interrupt(*_):
            raise KeyboardInterrupt

        attempt = store.lease("j1", "describe", worker="a", seconds=30)
        with monkeypatch.context() as patch:
            patch.setattr("xeforge.adapters.sql_store._rows_after", interrupt)
            with pytest.raises(KeyboardInterrupt):
                store.record(attempt, EVENTS[0])
        assert store.history("j1").records == ()
        assert len(store.record(attempt, EVENTS[0]).records) == 1


class Rival:
    """Another process on the same store."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(RIVAL), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def send(self, *words: str) -> None:
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        """Kill -9 and wait for the end, but leave the remains unreaped."""
        self.process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.sqlite3"


@pytest.fixture
def rivals(path: Path) -> Iterator[tuple[Rival, Rival]]:
    """Two processes that open a store which does not exist yet at the same moment."""
    pair = (Rival(path), Rival(path))
    assert [each.answer() for each in pair] == ["ready", "ready"]
    for each in pair:
        each.send("go")
    assert [each.answer() for each in pair] == ["open", "open"]
    yield pair
    for each in pair:
        each.process.kill()
        each.process.communicate()


def test_of_two_processes_one_records_a_step(path: Path, rivals) -> None:
    store = SqlStore(path, SystemClock())
    store.create("j1", PROBLEM)
    for number in range(20):
        attempt = store.lease("j1", f"s{number}", worker="a", seconds=30)
        for each in rivals:
            each.send("record", dumps(attempt))
        answers = sorted(each.answer() for each in rivals)
        assert answers == [str(number + 1), "StoreConflict"]
    assert len(store.history("j1").records) == 20
    store.close()


def test_of_two_processes_one_gets_the_lease(path: Path, rivals) -> None:
    store = SqlStore(path, SystemClock())
    store.create("j1", PROBLEM)
    for number in range(20):
        for each in rivals:
            each.send("lease", "j1", f"s{number}")
        assert sorted(each.answer() for each in rivals) == ["1", "LeaseLost"]
    store.close()


def test_the_lease_of_a_killed_process_can_be_taken_at_once(path: Path, rivals) -> None:
    store = SqlStore(path, SystemClock())
    store.create("j1", PROBLEM)
    rivals[0].send("lease", "j1", "audit")
    assert rivals[0].answer() == "1"
    with pytest.raises(LeaseLost):
        store.lease("j1", "audit", worker=local_worker(), seconds=30)
    rivals[0].kill()
    attempt = store.lease("j1", "audit", worker=local_worker(), seconds=30)
    assert attempt.token == 2
    assert store.record(attempt, Gated("t1", ())).records[0].step == "audit"
    store.close()


def test_job_ids_and_steps_are_only_text(path: Path) -> None:
    store = SqlStore(str(path), FakeClock())
    name = "'; DROP TABLE jobs; -- λ\n"
    store.create(name, PROBLEM)
    store.record(store.lease(name, name, worker=name, seconds=1), Resumed())
    assert store.jobs() == (name,)
    assert store.history(name).records[0].step == name
    store.close()


def test_an_address_names_the_same_file(path: Path) -> None:
    first = SqlStore(path, FakeClock())
    first.create("j1", PROBLEM)
    second = SqlStore(f"sqlite:///{path}", FakeClock())
    assert second.jobs() == ("j1",)
    first.close()
    second.close()


def test_odd_file_names_are_taken_as_they_are(tmp_path: Path) -> None:
    odd = tmp_path / "a b?c#d%20λ.db"
    store = SqlStore(odd, FakeClock())
    store.close()
    assert odd.is_file()


@pytest.mark.parametrize("place", ["sqlite://", "sqlite:///:memory:", "://no", "no://x/y"])
def test_addresses_that_cannot_hold_jobs_are_refused(place) -> None:
    with pytest.raises(BadRequest):
        SqlStore(place, FakeClock())


def test_a_missing_driver_is_named() -> None:
    with pytest.raises(ToolchainMissing, match="driver psycopg2 for postgresql") as caught:
        SqlStore("postgresql+psycopg2://localhost/jobs", FakeClock())
    assert caught.value.remedy == "pip install psycopg2"


def test_the_file_is_in_write_ahead_mode_with_foreign_keys(path: Path) -> None:
    store = SqlStore(path, FakeClock())
    with store._engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
    store.close()
