"""Children forked from one warm process, which stands inside the walls of the layer itself."""

import os
import socket
import tempfile
import threading
import weakref
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import IO
from typing import Any

from bench_workers.child.protocol import encode
from bench_workers.sandbox.children import Child
from bench_workers.sandbox.children import remove_folder
from bench_workers.sandbox.family import Family
from bench_workers.sandbox.forked import Forked
from bench_workers.sandbox.forked import ZygoteGone
from bench_workers.sandbox.forked import ZygoteLine
from bench_workers.sandbox.forked import ask_for_credentials
from bench_workers.sandbox.forked import hear_birth
from bench_workers.sandbox.identity import Place
from bench_workers.sandbox.limits import limit_numbers
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.spawn import spawn
from bench_workers.sandbox.start import OUTSIDE
from bench_workers.sandbox.start import START_SECONDS
from bench_workers.sandbox.start import options_text
from bench_workers.sandbox.start import own_environment
from bench_workers.sandbox.start import place_for
from xeforge.errors import PlatformError

_BIRTH_SECONDS = 60.0
_ROLE_SECONDS = 60.0
_TAIL_BYTES = 2000
_PRIVATE = (Path("/job"), Path("/tmp"))  # noqa: S108  (as a child sees them)
_CLOSED = "the zygote is closed"


class Zygote:
    """Keeps one warm process and forks children from it; a dead one is replaced.

    Args:
        policy: The rules of all children.
        layer: Module of the isolation layer.
        uid: Says which user the next child becomes; None: stay, mapped where the layer can.
        inherit: Descriptors a child gets under their own numbers, unless `take` names others.
        options: For the entry point, see `bench_workers.child.main`, and for roles.
    """

    def __init__(
        self,
        policy: Policy,
        layer: ModuleType,
        *,
        uid: Callable[[], int | None],
        inherit: Sequence[int] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._policy = policy
        self._layer = layer
        self._uid = uid
        self._inherit = tuple(inherit)
        self._options = dict(options or {})
        self._lock = threading.Lock()
        self._is_closed = False
        self._running: _Running | None = self._start()

    def take(
        self,
        role: str,
        *,
        options: Mapping[str, Any] | None = None,
        inherit: Sequence[int] | None = None,
    ) -> Child:
        """Return a new child in a role.

        Args:
            role: As for `launch`.
            options: For the role's own set-up.
            inherit: Descriptors it gets under their own numbers.

        Raises:
            CannotFork: What it has imported does not survive a fork.
            PlatformError: The zygote did not start, the role cannot be taken, or this is closed.
        """
        child = self._fork(self._inherit if inherit is None else inherit)
        try:
            child.wait_until_ready(seconds=_BIRTH_SECONDS)
            child.take_role(role, options or self._options, seconds=_ROLE_SECONDS)
        except BaseException:
            child.close()
            raise
        return child

    def close(self) -> None:
        """Fork no more; the zygote ends with the last of its children."""
        with self._lock:
            self._is_closed = True
            running, self._running = self._running, None
        if running is not None:
            running.line.retire()

    def _fork(self, inherit: Sequence[int]) -> Child:
        for is_last in (False, True):
            running = self._warm()
            try:
                return running.fork(self._policy, self._layer, self._uid(), inherit)
            except ZygoteGone:
                self._forget(running)
                if is_last:
                    raise
        raise AssertionError

    def _warm(self) -> "_Running":
        """Return the running zygote once it is warm, a new one where there is none."""
        with self._lock:
            if self._is_closed:
                raise PlatformError(_CLOSED)
            if self._running is None:
                self._running = self._start()
            running = self._running
        try:
            running.wait_until_warm()
        except PlatformError:
            self._forget(running)
            raise
        return running

    def _forget(self, running: "_Running") -> None:
        with self._lock:
            if self._running is running:
                self._running = None
        running.line.retire()

    def _start(self) -> "_Running":
        changes_user = self._uid() is not None
        running = _Running(self._policy, self._layer, self._options, changes_user=changes_user)
        weakref.finalize(self, running.line.retire)
        return running


class _Running:
    """One zygote process with its folder."""

    def __init__(
        self,
        policy: Policy,
        layer: ModuleType,
        options: Mapping[str, Any],
        *,
        changes_user: bool,
    ) -> None:
        self._lock = threading.Lock()
        self._is_warm = False
        with ExitStack() as undo:
            self._place = place_for(policy, uid=None)
            undo.callback(remove_folder, self._place.directory.parent)
            self._place.children.mkdir(mode=0o711)
            self._output: IO[bytes] = undo.enter_context(tempfile.TemporaryFile())
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.callback(ours.close)
            with theirs:
                environment = {**policy.environment, **own_environment(layer, self._place)}
                words = [
                    *layer.zygote(policy, self._place, environment, changes_user=changes_user),
                    *("prlimit", "--core=0", "--"),
                    *(str(policy.python), "-I", "-B", f"{layer.harness(self._place)}/main.py"),
                    *("zygote", str(theirs.fileno()), options_text(policy, options)),
                ]
                self._process = spawn(
                    words, environment=OUTSIDE, keep=(theirs.fileno(),), output=self._output
                )
            undo.pop_all()
        self._family = Family(self._process, uid=None, token=self._place.token)
        self.line = ZygoteLine(ours, self._end)

    def wait_until_warm(self) -> None:
        """Wait until it has imported what it shall.

        Raises:
            PlatformError: It did not.
        """
        with self._lock:
            if self._is_warm:
                return
            try:
                self._is_warm = bool(self.line.hear(seconds=START_SECONDS))
            except TimeoutError:
                raise PlatformError(
                    f"the zygote did not start within {START_SECONDS:g} s\n{self._tail()}"
                ) from None
            if not self._is_warm:
                raise PlatformError(f"the zygote did not start\n{self._tail()}")

    def fork(
        self, policy: Policy, layer: ModuleType, uid: int | None, inherit: Sequence[int]
    ) -> Child:
        """Return a child that is about to be born.

        Raises:
            ZygoteGone: The zygote has ended.
            CannotFork: The message says why.
        """
        place = place_for(policy, uid=uid, parent=self._place.children)
        with ExitStack() as undo:
            undo.callback(remove_folder, place.directory.parent)
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            with theirs:
                ours.sendall(encode(self._message(policy, layer, place, inherit)))
                ask_for_credentials(ours, is_wanted=True)
                process = self._fork(ours, theirs, inherit, is_nested=layer.NESTS)
            ask_for_credentials(ours, is_wanted=False)
            undo.pop_all()
        return Child(process, ours, policy, place, role="spare", shared=inherit, end=process.end)

    def _fork(
        self,
        ours: socket.socket,
        theirs: socket.socket,
        inherit: Sequence[int],
        *,
        is_nested: bool,
    ) -> Forked:
        pipes = [os.pipe() for _ in range(2)]
        streams: list[IO[bytes]] = [os.fdopen(reader, "rb", buffering=0) for reader, _ in pipes]
        writers = [writer for _, writer in pipes]
        try:
            number = self.line.fork((theirs.fileno(), *writers, *inherit), is_nested=is_nested)
            theirs.close()
            return self._born(number, ours, streams[0], streams[1])
        except BaseException:
            for stream in streams:
                stream.close()
            raise
        finally:
            for writer in writers:
                os.close(writer)

    def _born(
        self, number: int, ours: socket.socket, stdout: IO[bytes], stderr: IO[bytes]
    ) -> Forked:
        """Return the new child's first process; one that is not found is ended with all others."""
        try:
            pid = hear_birth(ours, seconds=_BIRTH_SECONDS)
            return Forked(self.line, number, pid, stdout, stderr)
        except (OSError, PlatformError) as error:
            self._family.end()
            raise ZygoteGone(str(error)) from error

    def _message(
        self, policy: Policy, layer: ModuleType, place: Place, inherit: Sequence[int]
    ) -> dict[str, Any]:
        """Return what the child shall be, as `bench_workers.child.walls` reads it."""
        per_user = layer.COUNTS_USERS or place.uid is not None
        return {
            "token": place.token,
            "zygote_token": self._place.token,
            "folder": place.directory.parent.name,
            "home": layer.home(place),
            "environment": own_environment(layer, place),
            "uid": place.uid,
            "shared_memory_bytes": policy.shared_memory_bytes,
            "limits": limit_numbers(policy, per_user=per_user),
            "kept": [str(path) for path in policy.readable if _is_hidden(path)],
            "numbers": list(inherit),
        }

    def _tail(self) -> str:
        """Return the last the zygote printed; nothing once it was ended on purpose."""
        try:
            size = self._output.seek(0, os.SEEK_END)
            self._output.seek(max(0, size - _TAIL_BYTES))
            return self._output.read().decode(errors="replace")
        except ValueError:  # closed
            return ""

    def _end(self) -> None:
        """End the zygote and whatever is left of it, and give its folder back."""
        self._family.end()
        self._output.close()
        remove_folder(self._place.directory.parent)


def _is_hidden(path: Path) -> bool:
    """Say whether a child's own folders hide a path that it must see."""
    return any(path.is_relative_to(folder) for folder in _PRIVATE)
