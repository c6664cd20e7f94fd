"""All processes that came from one child, found in /proc, and their end."""

import os
import select
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

from bench_workers.sandbox.outermost import Outermost
from xeforge.errors import PlatformError

_END_SECONDS = 20.0
_GRACE_SECONDS = 0.25
_FRESH_SECONDS = 0.05
_LOOK_SECONDS = 0.02
_PROC = "/proc"
_STAT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Process:
    """One entry of /proc; pid and start together are never used twice."""

    pid: int
    parent: int
    session: int
    uid: int
    start: int

    def memory_bytes(self, *, shared_allowance: int = 0) -> int:
        """Return the memory that is the process's own doing: not file pages.

        Args:
            shared_allowance: Shared memory that was given to it and is not counted.
        """
        try:
            lines = Path(f"{_PROC}/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return 0
        sizes = {line.split(":")[0]: line for line in lines if line.startswith("Rss")}
        own, shared = (
            int(sizes[name].split()[1]) * 1024 if name in sizes else 0
            for name in ("RssAnon", "RssShmem")
        )
        return own + max(0, shared - shared_allowance)


class _Scan:
    """The process table, shared by all who look at nearly the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = 0.0
        self._processes: Mapping[int, Process] = {}

    def processes(self, *, is_fresh: bool) -> Mapping[int, Process]:
        """Return all living processes by pid; zombies are left out."""
        with self._lock:
            if is_fresh or time.monotonic() - self._taken > _FRESH_SECONDS:
                found = (_read(name) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208
                self._processes = {process.pid: process for process in found if process}
                self._taken = time.monotonic()
            return self._processes


_SCAN = _Scan()


class Family:
    """The processes of one child.

    Someone belongs when a member is its parent, when it is in the first one's session, when it
    runs under the child's own user, or when it carries the child's token in its environment.
    Members are remembered, so that a parent's end does not hide its children.

    Args:
        first: The process that was started. Nobody else may wait for it: as long as it is not
            reaped its number cannot become a stranger's.
        uid: The child's own user; None when it has none.
        token: Word in the environment of the child's processes.
    """

    def __init__(self, first: Outermost, *, uid: int | None, token: str) -> None:
        self._first = first
        self._uid = uid
        self._token = token.encode()
        self._lock = threading.RLock()
        self._known: set[tuple[int, int]] = set()
        self._has_ended = False

    def members(self, *, is_thorough: bool = False) -> tuple[Process, ...]:
        """Return the living members.

        Args:
            is_thorough: Look at the table as it is now, and into every environment.
        """
        with self._lock:
            if self._has_ended:
                return ()
            table = _SCAN.processes(is_fresh=is_thorough)
            found = {
                process.pid: process
                for process in table.values()
                if self._is_member(process, is_thorough=is_thorough)
            }
            grew = True
            while grew:
                born = [
                    process
                    for process in table.values()
                    if process.parent in found and process.pid not in found
                ]
                found.update({process.pid: process for process in born})
                grew = bool(born)
            self._known = {(process.pid, process.start) for process in found.values()}
            return tuple(found.values())

    def end(self) -> None:
        """Kill all members and return when the process table holds none.

        Raises:
            PlatformError: Some would not go.
        """
        with self._lock:
            began = time.monotonic()
            while members := self.members(is_thorough=True):
                waited = time.monotonic() - began
                others = [member for member in members if member.pid != self._first.pid]
                # The first one is mostly a wrapper that reaps the rest and then goes by itself;
                # ended at once it would leave that to whoever adopts orphans here.
                for member in members if waited > _GRACE_SECONDS or not others else others:
                    with suppress(ProcessLookupError):
                        os.kill(member.pid, SIGKILL)
                if waited > _END_SECONDS:
                    left = ", ".join(str(member.pid) for member in members)
                    raise PlatformError(f"processes of a child cannot be ended: {left}")
                _wait_for_end(self._first.pid)
            self._first.wait()
            self._has_ended = True

    def _is_member(self, process: Process, *, is_thorough: bool) -> bool:
        first = self._first.pid
        return (
            first in {process.pid, process.session}
            or (self._uid is not None and process.uid == self._uid)
            or (process.pid, process.start) in self._known
            or (is_thorough and self._token in _environment(process.pid))
        )


def _wait_for_end(pid: int) -> None:
    """Wait a moment, or until a process has ended that nobody else waits for."""
    try:
        end = os.pidfd_open(pid)
    except OSError:  # an old kernel
        threading.Event().wait(_LOOK_SECONDS)
        return
    try:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        poll.poll(_LOOK_SECONDS * 1000)
    finally:
        os.close(end)


def _read(name: str) -> Process | None:
    """Read one entry of the process table; None for one that has ended."""
    try:
        descriptor = os.open(f"{_PROC}/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, _STAT_BYTES)
        uid = os.stat(f"{_PROC}/{name}").st_uid  # noqa: PTH116  (read hundreds of times a second)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    fields = text.rpartition(b")")[2].split(maxsplit=20)
    if fields[0] in b"ZX":
        return None
    return Process(
        pid=int(name),
        parent=int(fields[1]),
        session=int(fields[3]),
        uid=uid,
        start=int(fields[19]),
    )


def _environment(pid: int) -> bytes:
    try:
        with open(f"{_PROC}/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123  (the same)
            return file.read()
    except OSError:
        return b""
