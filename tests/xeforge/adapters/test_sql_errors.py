"""What goes wrong with the database is said in our words, with the place and a remedy."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from tests.conformance.job_store import EVENTS
from tests.conformance.job_store import PROBLEM
from tests.conformance.job_store import FakeClock
from tests.conformance.job_store import judge
from xeforge.adapters import sql_engine
from xeforge.adapters.sql_store import SqlStore
from xeforge.domain.events import Gated
from xeforge.domain.wins import Effect
from xeforge.domain.wins import WinRecord
from xeforge.errors import BadRequest
from xeforge.errors import OutOfHostResources


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.sqlite3"


@pytest.fixture
def store(path: Path):
    store = SqlStore(path, FakeClock())
    store.create("j1", PROBLEM)
    yield store
    store.close()


def assert_in_our_words(caught, path: Path) -> None:
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert "sqlalche" not in str(caught.value)


def with_pragma(store: SqlStore, pragma: str) -> None:
    """Let all connections of a store begin with a pragma."""
    store.close()
    event.listen(store._engine, "connect", lambda raw, _: raw.execute(pragma).fetchall())


def test_a_file_that_cannot_be_written(store: SqlStore, path: Path) -> None:
    with_pragma(store, "PRAGMA query_only = ON")
    with pytest.raises(OutOfHostResources, match="cannot be written") as caught:
        store.create("j2", PROBLEM)
    assert_in_our_words(caught, path)
    assert store.jobs() == ("j1",)


def test_a_full_disk(store: SqlStore, path: Path) -> None:
    attempt = store.lease("j1", "gate:t1", worker="a", seconds=30)
    with_pragma(store, "PRAGMA max_page_count = 1")
    with pytest.raises(OutOfHostResources, match="disk is full") as caught:
        store.record(attempt, Gated("x" * 100_000, ()))
    assert_in_our_words(caught, path)
    assert store.history("j1").records == ()


def test_a_file_that_another_process_locks(store: SqlStore, path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sql_engine, "BUSY_SECONDS", 0.01)
    impatient = SqlStore(path, FakeClock())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutOfHostResources, match="locked by another process") as caught:
            impatient.create("j2", PROBLEM)
        assert impatient.jobs() == ("j1",)
    assert_in_our_words(caught, path)
    impatient.create("j2", PROBLEM)
    impatient.close()


def test_a_reader_in_the_way_of_write_ahead_mode_is_no_fault(
    store: SqlStore, path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(sql_engine, "BUSY_SECONDS", 0.01)
    store.close()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM jobs").fetchall()
        engine = sql_engine.open_engine(path)
        sql_engine.let_readers_go_on(engine)
        engine.dispose()
    later = SqlStore(path, FakeClock())
    later.close()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_bytes(b"not a database, " * 1000)
    with pytest.raises(BadRequest, match="damaged or no database") as caught:
        SqlStore(path, FakeClock())
    assert_in_our_words(caught, path)


def test_a_damaged_database(store: SqlStore, path: Path) -> None:
    for number in range(20):
        attempt = store.lease("j1", f"s{number}", worker="a", seconds=30)
        store.record(attempt, Gated("x" * 10_000, ()))
    store.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(BadRequest, match="damaged or no database") as caught:
        SqlStore(path, FakeClock()).history("j1")
    assert_in_our_words(caught, path)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "jobs.sqlite3"
    with pytest.raises(BadRequest, match="cannot be opened") as caught:
        SqlStore(path, FakeClock())
    assert_in_our_words(caught, path)


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be opened") as caught:
        SqlStore(tmp_path, FakeClock())
    assert_in_our_words(caught, tmp_path)


@pytest.mark.parametrize("version", [3, 0, None])
def test_another_version_is_refused(store: SqlStore, path: Path, version) -> None:
    store.close()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DELETE FROM schema_version")
        if version is not None:
            raw.execute("INSERT INTO schema_version VALUES (?)", (version,))
    with pytest.raises(BadRequest, match=f"has version {version}; .* reads version 2") as caught:
        SqlStore(path, FakeClock())
    assert_in_our_words(caught, path)


def test_a_database_of_version_1_gets_what_it_lacks(store: SqlStore, path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DROP TABLE recipe_effects")
        raw.execute("UPDATE schema_version SET version = 1")
    later = SqlStore(path, FakeClock())
    assert later.history("j1").problem == PROBLEM
    assert later.wins() == {}
    judge(later, "j1", "t1", Effect.WON, "a.one")
    later.close()
    again = SqlStore(path, FakeClock())
    assert again.wins() == {"nvidia-h200": {"a.one": WinRecord(1, 1)}}
    again.close()


def test_an_interrupted_count_leaves_no_verdict_behind(store: SqlStore, monkeypatch) -> None:
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("xeforge.adapters.sql_store._count", interrupt)
        with pytest.raises(KeyboardInterrupt):
            judge(store, "j1", "t1", Effect.WON, "a.one")
    assert store.history("j1").records == ()
    assert store.wins() == {}


def test_a_database_of_somebody_else_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE photos (name TEXT)")
    with pytest.raises(BadRequest, match="other things than jobs") as caught:
        SqlStore(path, FakeClock())
    assert_in_our_words(caught, path)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("photos",)]
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_row_that_is_no_event(store: SqlStore, path: Path) -> None:
    store.record(store.lease("j1", "describe", worker="a", seconds=30), EVENTS[0])
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("""UPDATE events SET body = '{"type": "Judged", "trial": 3}'""")
    fresh = SqlStore(path, FakeClock())
    with pytest.raises(BadRequest, match=r"\$\.trial: this is no Event") as caught:
        fresh.history("j1")
    assert caught.value.file == str(path)
    fresh.close()


def test_errors_that_nobody_foresaw_are_the_machines(store: SqlStore, path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DROP TABLE leases")
    with pytest.raises(OutOfHostResources, match="no such table: leases") as caught:
        store.lease("j1", "describe", worker="a", seconds=30)
    assert_in_our_words(caught, path)
