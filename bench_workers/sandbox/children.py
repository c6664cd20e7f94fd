"""One running child: ask it, end it, say how it ended."""

import itertools
import os
import shutil
import signal
import socket
import subprocess
import threading
import weakref
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from typing import Self

from bench_workers.child.protocol import ProtocolError
from bench_workers.child.protocol import encode
from bench_workers.sandbox.channel import Channel
from bench_workers.sandbox.channel import Closed
from bench_workers.sandbox.channel import Deadline
from bench_workers.sandbox.family import Family
from bench_workers.sandbox.identity import NOBODY
from bench_workers.sandbox.identity import Place
from bench_workers.sandbox.limits import Watch
from bench_workers.sandbox.outermost import Outermost
from bench_workers.sandbox.policy import Policy
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout
from xeforge.errors import PlatformError

_SIGNAL_EXIT = 128
_LAST_BREATH_SECONDS = 1.0  # between a socket's closing and its process's end
_ORPHANED = "the child ended together with the process that had made it"
_STARTED = "the child did not start"


class Child:
    """A sandboxed process that answers requests; use it as a context, or `close` it.

    Not for several threads at once: requests queue up behind a lock.

    Attributes:
        role: What it was started as, or took on since.
        layer: Isolation in force.
        pid: Process id of the outermost process, as the host sees it.
        directory: Its private folder on the host, ``/job`` or ``$HOME`` inside. Open nothing in
            it that the child may have replaced by a link.
        versions: Versions of the modules that were loaded ahead.
    """

    def __init__(
        self,
        process: Outermost,
        connection: socket.socket,
        policy: Policy,
        place: Place,
        *,
        role: str,
        shared: Sequence[int] = (),
        end: int | None = None,
    ) -> None:
        self.role = role
        self.layer = policy.layer
        self.pid = process.pid
        self.directory = place.directory
        self.versions: Mapping[str, str] = {}
        self._process = process
        self._channel = Channel(connection, process.pid, end)
        uid = None if place.uid == NOBODY else place.uid
        self._family = Family(process, uid=uid, token=place.token)
        self._shared = [os.dup(descriptor) for descriptor in shared]
        self._watch = Watch(
            process,
            self._family,
            policy,
            folders=(place.directory, place.scratch),
            shared=self._shared,
        )
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._end_message: str | None = None
        self._is_closed = False
        folder = place.directory.parent
        self._release = weakref.finalize(
            self, _release, self._family, self._watch, self._channel, self._shared, folder
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._end_message is None and not self._channel.has_process_ended()

    @property
    def stderr_tail(self) -> str:
        """The last it printed as errors, at most 2000 characters."""
        return self._watch.stderr_tail()

    def wait_until_ready(self, *, seconds: float) -> None:
        """Wait for the child to say that it is set up.

        Raises:
            PlatformError: It did not; what it printed is in the message.
        """
        try:
            with self._lock:
                hello = self._exchange(b"", seconds=seconds)
        except CandidateTimeout:
            raise PlatformError(f"{_STARTED} within {seconds:g} s\n{self.stderr_tail}") from None
        except CandidateDied as died:
            raise PlatformError(f"{_STARTED}: {died.message}\n{died.stderr_tail}") from None
        self.versions = {str(key): str(value) for key, value in hello.get("versions", {}).items()}
        self._watch.is_busy = False

    def request(
        self, op: str, payload: Mapping[str, Any], *, deadline_seconds: float
    ) -> dict[str, Any]:
        """Ask the child to do something; return its answer. Nothing in it is evidence.

        Raises:
            CandidateRaised: It raised; kind, text and line are what the child says.
            CandidateTimeout: No answer in time; all its processes are gone.
            CandidateDied: It ended, took too much, or broke the protocol; all is gone.
            PlatformError: The request cannot be sent, or is not one of the role's.
        """
        with self._lock:
            if self._end_message == _ORPHANED:
                raise PlatformError(_ORPHANED)
            if self._end_message is not None:
                raise CandidateDied(self._end_message, stderr_tail=self.stderr_tail)
            number = next(self._numbers)
            try:
                frame = encode({**payload, "id": number, "op": op})
            except ProtocolError as error:
                raise PlatformError(f"the request {op!r} cannot be sent: {error}") from error
            self._watch.is_busy = True
            answer = self._exchange(frame, seconds=deadline_seconds)
            self._watch.is_busy = False
            if answer.get("id") != number or ("ok" in answer) == ("error" in answer):
                raise self._died("answered something that was not asked")
            return self._result(answer, op)

    def take_role(self, role: str, options: Mapping[str, Any], *, seconds: float) -> None:
        """Give a spare child its role.

        Raises:
            PlatformError: The role's own set-up failed.
        """
        try:
            payload = {"role": role, "options": dict(options)}
            self.request("take_role", payload, deadline_seconds=seconds)
        except CandidateError as error:
            message = f"no child can take the role {role!r}: {error.message}"
            raise PlatformError(f"{message}\n{error.stderr_tail}") from None
        self.role = role

    def kill(self) -> None:
        """End all its processes, from any thread; whoever waits for an answer learns of it.

        Raises:
            PlatformError: A process would not go.
        """
        self._family.end()

    def close(self) -> None:
        """End all its processes and remove its folder; calling again does nothing.

        Waits for a request that another thread has under way; `kill` ends that one first.

        Raises:
            PlatformError: A process would not go.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._end_message = self._end_message or "closed"
            self._release()

    def _exchange(self, frame: bytes, *, seconds: float) -> dict[str, Any]:
        try:
            return self._channel.exchange(frame, seconds=seconds)
        except Deadline:
            self._end_message = f"no answer within {seconds:g} s"
            self._family.end()
            self._watch.drain()
            raise CandidateTimeout(self._end_message, stderr_tail=self.stderr_tail) from None
        except Closed:
            raise self._died(None) from None
        except ProtocolError as error:
            raise self._died(f"broke the protocol: {error}") from None

    def _died(self, reason: str | None) -> CandidateDied:
        """End what is left and return the error that says why."""
        has_ended = reason is None and self._channel.wait_for_end(_LAST_BREATH_SECONDS)
        self._family.end()
        self._watch.drain()
        if reason is None:
            reason = self._how_it_ended() if has_ended else "closed its channel"
        self._end_message = self._watch.breach or reason
        return CandidateDied(self._end_message, stderr_tail=self.stderr_tail)

    def _how_it_ended(self) -> str:
        """Say how the first process ended.

        Raises:
            PlatformError: Whoever could know has gone too, and most likely took it along.
        """
        status = self._process.returncode
        if status is None and self._watch.breach is None:
            self._end_message = _ORPHANED
            raise PlatformError(_ORPHANED)
        return "" if status is None else how_it_ended(status)

    def _result(self, answer: Mapping[str, Any], op: str) -> dict[str, Any]:
        found = answer.get("ok")
        if isinstance(found, dict):
            return found
        error = answer.get("error")
        if not isinstance(error, dict):
            raise self._died("answered something that was not asked")
        kind, message = str(error.get("kind"))[:200], str(error.get("message"))[:4000]
        if kind == "UnknownOperation":
            raise PlatformError(f"role {self.role!r} cannot do {op!r}: {message}")
        line = error.get("line")
        raise CandidateRaised(
            f"{kind}: {message}" if message else kind,
            kind=kind,
            line=line if isinstance(line, int) else None,
            stderr_tail=self.stderr_tail,
        )


def _release(
    family: Family, watch: Watch, channel: Channel, shared: Sequence[int], folder: Path
) -> None:
    """Give everything of a child back; runs by itself for one that is out of use."""
    family.end()
    watch.stop()
    channel.close()
    for descriptor in shared:
        os.close(descriptor)
    remove_folder(folder)


def how_it_ended(status: int) -> str:
    """Say in words what an exit status means; wrappers pass a signal on as 128 and its number."""
    number = -status if status < 0 else status - _SIGNAL_EXIT
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"ended by itself with exit status {status}"
    return f"killed by {name}"


def remove_folder(folder: Path) -> None:
    """Remove a folder that hostile code has filled, links never followed."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        command = ["rm", "-rf", "--one-file-system", "--", str(folder)]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603
