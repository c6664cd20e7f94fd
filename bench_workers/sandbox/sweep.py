"""Removes what processes that were killed could not remove: the private folders of children."""

import functools
import os
import stat
from pathlib import Path

from bench_workers.sandbox.children import remove_folder
from bench_workers.sandbox.identity import FOLDER_PREFIX
from bench_workers.sandbox.identity import OWNER_FILE
from bench_workers.sandbox.identity import this_table


@functools.cache
def sweep_once(parent: Path) -> None:
    """Do as `sweep` when this process first makes a folder in ``parent``."""
    sweep(parent)


def sweep(parent: Path) -> tuple[Path, ...]:
    """Remove folders whose owner is dead; return them.

    Only folders of this user are looked at, and only those whose owner had its number from the
    same process table; whoever lives elsewhere, say in another container, cannot be seen here.
    """
    try:
        found = [path for path in parent.iterdir() if path.name.startswith(FOLDER_PREFIX)]
    except OSError:
        return ()
    removed = tuple(path for path in found if _is_ours(path) and _is_left_behind(path))
    for path in removed:
        remove_folder(path)
    return removed


def _is_ours(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _is_left_behind(path: Path) -> bool:
    """Say whether the owner has ended; one that cannot be told counts as living."""
    try:
        table, pid, start = (path / OWNER_FILE).read_text(encoding="ascii").rsplit(" ", 2)
    except (OSError, ValueError):
        return False
    if table != this_table() or not (pid.isdecimal() and start.isdecimal()):
        return False
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return int(fields[19]) != int(start) or fields[0] in b"ZX"
