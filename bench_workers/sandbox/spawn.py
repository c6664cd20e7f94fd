"""Starts processes on a thread that lives as long as this process.

Children ask the kernel to end them with their parent, and the kernel takes the thread that
started them for the parent: started from a passing worker thread they would end with it.
"""

import os
import subprocess
import threading
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import IO
from typing import Any

from xeforge.errors import OutOfHostResources
from xeforge.errors import ToolchainMissing

_Job = tuple[Callable[[], Any], Future[Any]]


class _Starter:
    """One thread that runs what it is given, in order; restarted in a forked process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._owner = 0

    def run(self, work: Callable[[], Any]) -> Any:
        """Run work on the thread; return or raise what it does."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner = os.getpid()
                self._jobs = SimpleQueue()
                threading.Thread(target=self._serve, name="sandbox-start", daemon=True).start()
        answer: Future[Any] = Future()
        self._jobs.put((work, answer))
        return answer.result()

    def _serve(self) -> None:
        jobs = self._jobs
        while True:
            work, answer = jobs.get()
            try:
                answer.set_result(work())
            except OSError as error:
                answer.set_exception(error)


_STARTER = _Starter()


def spawn(
    words: Sequence[str],
    *,
    environment: Mapping[str, str],
    keep: Sequence[int],
    output: IO[bytes] | int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, with pipes for what it prints.

    Args:
        words: The command.
        environment: All its variables.
        keep: Descriptors it inherits under their own numbers.
        output: File for all it prints.

    Raises:
        ToolchainMissing: The program is not there.
        OutOfHostResources: The machine gives no process or descriptor.
    """

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  (the words are ours)
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(environment),
            cwd="/",
            pass_fds=tuple(keep),
            start_new_session=True,
        )

    try:
        process: subprocess.Popen[bytes] = _STARTER.run(start)
    except FileNotFoundError as error:
        raise ToolchainMissing(f"{words[0]} is not installed") from error
    except OSError as error:
        raise OutOfHostResources(f"a process cannot be started: {error}") from error
    return process
