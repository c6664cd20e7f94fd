"""Compiled kernels on their way from one child to the next, read as the work of strangers."""

import json
import os
import stat
from pathlib import Path

CACHE_FOLDER = "cache"
"""Where a child keeps compiled kernels, inside its private directory."""

_CACHE_LIMIT_BYTES = 1 << 30
_GROUP_PREFIX = "__grp__"


def carry_cache(folder: Path, destination: Path, *, seen_as: Path | str) -> None:
    """Copy compiled kernels from a child's directory so that another child finds them.

    The folder was written by untrusted code: only regular files two levels deep are read, links
    are never followed, and a cache of more than 1 GiB is cut off. What is at the destination stays:
    Triton names files by what they were compiled from.

    Args:
        folder: Cache that a child has written; missing: nothing is copied.
        destination: Made when missing; given to the owner of the folder that holds it, so that a
            child that runs as another user can add to it.
        seen_as: Path by which the children that use it will know `destination`; Triton's cache
            holds absolute paths, which are rewritten.
    """
    room = _CACHE_LIMIT_BYTES
    for entry in _plain_entries(folder, directories=True):
        there = set(_plain_entries(destination / entry, directories=False))
        for file in _plain_entries(folder / entry, directories=False):
            if file in there:
                continue
            data = _read_regular(folder / entry / file, room)
            if data is None:
                continue
            room -= len(data)
            if file.startswith(_GROUP_PREFIX):
                data = _moved_group(data, Path(seen_as) / entry)
            (destination / entry).mkdir(parents=True, exist_ok=True)
            (destination / entry / file).write_bytes(data)
    _give_to_owner_of(destination.parent, destination)


def _give_to_owner_of(model: Path, folder: Path) -> None:
    """Change the owner of a folder that this process has just written."""
    if os.geteuid() != 0 or not folder.exists():
        return
    owner = model.stat()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _plain_entries(folder: Path, *, directories: bool) -> list[str]:
    """Return names of a folder's real subfolders or real files, links left out."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                each.name
                for each in entries
                if (each.is_dir if directories else each.is_file)(follow_symlinks=False)
            )
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read_regular(path: Path, limit_bytes: int) -> bytes | None:
    """Read a file that is neither a link nor larger than allowed; None otherwise."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > limit_bytes:
            return None
        return file.read(limit_bytes)


def _moved_group(data: bytes, folder: Path) -> bytes:
    """Rewrite the absolute paths of one of Triton's group files."""
    try:
        names = [str(name) for name in json.loads(data)["child_paths"]]
    except (ValueError, KeyError, TypeError):
        return data
    moved = {name: str(folder / Path(name).name) for name in names}
    return json.dumps({"child_paths": moved}).encode()
