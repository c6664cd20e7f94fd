"""Reads what the user names and writes what the user asked for, with errors that help."""

from pathlib import Path

from xeforge.domain.submission import SourceFile
from xeforge.errors import BadRequest

MAX_FILE_BYTES = 4 * 2**20
"""Larger text files are refused: no kernel or spec is that long."""


def read_source(path: Path) -> SourceFile:
    """Return the text of a user's file.

    Raises:
        BadRequest: It is missing, no regular file, unreadable, too large or not UTF-8.
    """
    if not path.exists():
        raise BadRequest("no such file", file=path, remedy=_nearby(path))
    if not path.is_file():
        raise BadRequest("not a regular file", file=path, remedy="name a file, not a folder")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadRequest(
            f"cannot be read: {error.strerror}", file=path, remedy="check its permissions"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise BadRequest(
            f"has {len(data):,} bytes, more than {MAX_FILE_BYTES:,}",
            file=path,
            remedy="submit the kernel file alone",
        )
    try:
        return SourceFile(str(path), data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadRequest(
            f"is not UTF-8: byte 0x{data[error.start]:02x}",
            file=path,
            line=line,
            remedy="save the file as UTF-8",
        ) from error


def _nearby(path: Path) -> str:
    """Name files that might have been meant."""
    folder = path.parent
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    similar = sorted(each.name for each in folder.glob(f"*{path.suffix}") if each.is_file())[:5]
    return f"files there: {', '.join(similar)}" if similar else "check the path"


def make_folder(path: Path) -> Path:
    """Return the folder, made if needed and proved writable.

    Raises:
        BadRequest: It cannot be made or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".xeforge-write-test"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        raise BadRequest(
            f"cannot write here: {error.strerror}", file=path, remedy="name another folder"
        ) from error
    return path


def check_writable(path: Path) -> Path:
    """Return the path after proving that a file can be written there.

    Raises:
        BadRequest: Its folder cannot be written to, or it is a folder itself.
    """
    if path.is_dir():
        raise BadRequest("is a folder", file=path, remedy="name a file")
    make_folder(path.parent)
    return path
