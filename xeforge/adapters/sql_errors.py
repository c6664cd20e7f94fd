"""What database errors mean to a user, without a trace of the library that raised them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from xeforge.errors import BadRequest
from xeforge.errors import OutOfHostResources
from xeforge.errors import XeForgeError

_Faults = tuple[tuple[tuple[str, ...], str, str], ...]
_HOST_FAULTS: _Faults = (
    (
        ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"),
        "cannot be written",
        "make the file and its folder writable, or name another folder",
    ),
    (("SQLITE_FULL",), "cannot grow: the disk is full", "make room on the disk"),
    (("SQLITE_IOERR",), "cannot be read or written", "check the disk and its quota"),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "is locked by another process",
        "end the process that holds it, then try again",
    ),
    (("SQLITE_NOMEM",), "cannot be read: memory is used up", "end other programs"),
)
_USER_FAULTS: _Faults = (
    (
        ("SQLITE_CORRUPT", "SQLITE_NOTADB"),
        "this file is damaged or no database",
        "move it out of the way; a new job store is made in its place",
    ),
    (
        ("SQLITE_CANTOPEN",),
        "the job store cannot be opened",
        "check that the folder exists and that the path is a file you may open",
    ),
)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn database errors inside the block into ours.

    Args:
        place: Path or address of the database, for messages.

    Raises:
        BadRequest: The database is damaged, missing or no database.
        OutOfHostResources: The machine does not let us read or write it.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise _meaning(getattr(error, "orig", None) or error, place) from None


def _meaning(cause: BaseException, place: str) -> XeForgeError:
    name = getattr(cause, "sqlite_errorname", "") if isinstance(cause, sqlite3.Error) else ""
    for codes, message, remedy in _USER_FAULTS:
        if name.startswith(codes):
            return BadRequest(message, file=place, remedy=remedy)
    for codes, message, remedy in _HOST_FAULTS:
        if name.startswith(codes):
            return OutOfHostResources(f"the job store {place} {message}", remedy=remedy)
    return OutOfHostResources(
        f"the job store {place} failed: {cause}", remedy="check the database and try again"
    )
