"""Limits that the kernel keeps for one process, and a watch over what it counts wrongly.

The address space is not limited: drivers and allocators reserve far more of it than they use.
Memory in use is read by a watch instead, over all processes of a child together.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ
from selectors import DefaultSelector
from typing import IO

from bench_workers.sandbox.family import Family
from bench_workers.sandbox.outermost import Outermost
from bench_workers.sandbox.policy import Policy

TAIL_BYTES = 8192
_CHUNK_BYTES = 1 << 16
_MIB = 1 << 20
_BUSY_SECONDS = 0.1
_IDLE_SECONDS = 1.0
_DISK_SECONDS = 1.0
_DRAIN_SECONDS = 1.0
_MOST_DEPTH = 64
_MOST_ENTRIES = 50_000


def limit_words(policy: Policy, *, per_user: bool) -> list[str]:
    """Return the words that set the kernel's limits for the command after them.

    Args:
        policy: The numbers.
        per_user: Whether the child's user is its own, so that processes may be counted by user.
    """
    numbers = limit_numbers(policy, per_user=per_user)
    return ["prlimit", *(f"--{name}={number}" for name, number in numbers.items()), "--"]


def limit_numbers(policy: Policy, *, per_user: bool) -> dict[str, int]:
    """Return the kernel's limits by name."""
    numbers = {
        "core": 0,
        "cpu": policy.cpu_seconds,
        "nofile": policy.files,
        "fsize": policy.file_size_bytes,
    }
    return {**numbers, "nproc": policy.processes} if per_user else numbers


class Watch:
    """Reads what a child prints and ends it when it takes too much.

    Attributes:
        breach: Which limit was passed, as a sentence; None while none was.
        is_busy: Whether the child works for us now; it is looked at more often then.
    """

    def __init__(
        self,
        process: Outermost,
        family: Family,
        policy: Policy,
        *,
        folders: Sequence[Path],
        shared: Sequence[int],
    ) -> None:
        self.breach: str | None = None
        self.is_busy = True
        self._family = family
        self._policy = policy
        self._folders = tuple(folders)
        self._shared = tuple(shared)
        self._tails: dict[IO[bytes], deque[bytes]] = {}
        self._printed_bytes = 0
        self._is_stopped = threading.Event()
        self._is_drained = threading.Event()
        self._disk_checked = time.monotonic()
        self._selector = DefaultSelector()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._selector.register(self._wake, EVENT_READ)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._tails[stream] = deque()
                self._selector.register(stream, EVENT_READ)
        self._stderr = process.stderr
        self._thread = threading.Thread(target=self._run, name="sandbox-watch", daemon=True)
        self._thread.start()

    def stderr_tail(self) -> str:
        """Return the last of what the child printed as errors, cut at 2000 characters."""
        if self._stderr is None:
            return ""
        return b"".join(tuple(self._tails[self._stderr])).decode(errors="replace")[-2000:]

    def drain(self) -> None:
        """Wait until all that an ended child has printed is read."""
        self._is_drained.wait(_DRAIN_SECONDS)

    def stop(self) -> None:
        """Read what is left, then end; call when no process of the child is left."""
        if self._is_stopped.is_set():
            return
        self._is_stopped.set()
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        os.close(self._wake)

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            if not self._is_stopped.is_set():  # unwatched is not let run
                self._family.end()

    def _serve(self) -> None:
        looked = 0.0
        while not self._is_stopped.is_set():
            for key, _ in self._selector.select(_BUSY_SECONDS):
                if key.fileobj != self._wake:
                    self._read(key.fileobj)  # type: ignore[arg-type]
            if len(self._selector.get_map()) == 1:  # nothing but what wakes it
                self._is_drained.set()
                self._is_stopped.wait(_BUSY_SECONDS)
            now = time.monotonic()
            if now - looked >= (_BUSY_SECONDS if self.is_busy else _IDLE_SECONDS):
                looked = now
                self._check()
        for stream in tuple(self._tails):
            while self._read(stream):
                pass
            stream.close()
        self._selector.close()

    def _read(self, stream: IO[bytes]) -> bool:
        """Keep the last of what can be read at once; say whether there may be more."""
        try:
            data = os.read(stream.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            with suppress(KeyError):
                self._selector.unregister(stream)
            return False
        tail = self._tails[stream]
        tail.append(data[-TAIL_BYTES:])
        while sum(map(len, tail)) - len(tail[0]) >= TAIL_BYTES:
            tail.popleft()
        self._printed_bytes += len(data)
        if self._printed_bytes > self._policy.output_bytes:
            self._end(f"printed more than {self._policy.output_bytes // _MIB} MiB")
        return True

    def _check(self) -> None:
        members = self._family.members()
        allowance = sum(map(_size_bytes, self._shared))
        used = sum(member.memory_bytes(shared_allowance=allowance) for member in members)
        if used > self._policy.memory_bytes:
            self._end(f"memory limit of {self._policy.memory_bytes // _MIB} MiB reached")
        if len(members) > self._policy.processes:
            self._end(f"limit of {self._policy.processes} processes reached")
        if self.is_busy and time.monotonic() - self._disk_checked > _DISK_SECONDS:
            excess = _folder_excess(self._folders, self._policy.disk_bytes)
            if excess is not None:
                self._end(excess)
            self._disk_checked = time.monotonic()

    def _end(self, breach: str) -> None:
        if self.breach is None:
            self.breach = breach
            self._family.end()


def _size_bytes(descriptor: int) -> int:
    try:
        return os.fstat(descriptor).st_size
    except OSError:
        return 0


def _folder_excess(folders: Sequence[Path], most_bytes: int) -> str | None:
    """Say how folders hold too much together; None when they do not.

    Their owner is hostile: depth and number of entries are limited too, so that the look itself
    stays cheap and nothing can hide below paths that are too long to open.
    """
    total = entries = 0
    todo = [(os.fspath(folder), 0) for folder in folders]
    while todo:
        where, depth = todo.pop()
        if depth > _MOST_DEPTH:
            return f"nested folders deeper than {_MOST_DEPTH}"
        with suppress(OSError), os.scandir(where) as found:
            for entry in found:
                entries += 1
                total += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    todo.append((entry.path, depth + 1))
                if total > most_bytes:
                    return f"disk limit of {most_bytes // _MIB} MiB reached"
                if entries > _MOST_ENTRIES:
                    return f"made more than {_MOST_ENTRIES} files"
    return None
