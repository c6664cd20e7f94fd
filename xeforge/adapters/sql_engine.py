"""Opens the database so that many threads and processes can share one SQLite file."""

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlalchemy import Engine
from sqlalchemy import create_engine
from sqlalchemy import event
from sqlalchemy.engine import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from xeforge.errors import BadRequest
from xeforge.errors import ToolchainMissing

WRITES = "xeforge_writes"
"""Execution option of connections whose transactions change something."""

BUSY_SECONDS = 20.0
"""How long one process waits for another's write; ours take milliseconds."""


def open_engine(place: str | Path) -> Engine:
    """Return an engine for the path of an SQLite file or a database address.

    Raises:
        BadRequest: The address cannot be understood or keeps its data in memory only.
        ToolchainMissing: The database's driver is not installed.
    """
    url = _url(place)
    if url.get_backend_name() != "sqlite":
        return _remote_engine(url)
    if url.database in {None, "", ":memory:"}:
        raise BadRequest("a job store in memory is lost at once", remedy="name a file")
    # Without a bound on connections: a waiting writer must not starve a reader of its own process.
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, max_overflow=-1)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _remote_engine(url: URL) -> Engine:
    try:
        return create_engine(url)
    except ArgumentError:
        raise BadRequest(f"no database is called {url.drivername!r}") from None
    except ModuleNotFoundError as error:
        raise ToolchainMissing(
            f"the driver {error.name} for {url.drivername} databases is not installed",
            remedy=f"pip install {error.name}",
        ) from None


def let_readers_go_on(engine: Engine) -> None:
    """Switch an SQLite file to write-ahead logging, where a writer keeps no reader waiting.

    A property of the file, set once, so only after it is known to be ours.
    """
    if engine.url.get_backend_name() != "sqlite":
        return
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute("PRAGMA journal_mode")
        if cursor.fetchone() != ("wal",):
            cursor.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # Another process is just making the same switch; without it things are slower, not wrong.
        if not error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise
    finally:
        raw.close()


def _url(place: str | Path) -> URL:
    if isinstance(place, Path) or "://" not in place:
        return URL.create("sqlite", database=str(place))
    try:
        return make_url(place)
    except ArgumentError:
        raise BadRequest(f"{place!r} is no database address", remedy="name a file") from None


def _set_up(connection: sqlite3.Connection, _: Any) -> None:
    # Transactions are begun by `_begin` below, never by the driver on its own account.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    # Survives any crash of ours; power loss may cost the last steps, which are then repeated.
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin(connection: Connection) -> None:
    """Take the write lock at once: a reader that turns writer midway could only fail."""
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
