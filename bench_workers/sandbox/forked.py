"""The first process of a child that a zygote forked, and the line to the zygote."""

import os
import select
import socket
import struct
import threading
from collections.abc import Callable
from collections.abc import Sequence
from typing import IO

from bench_workers.child.orders import BORN
from bench_workers.child.orders import DONE
from bench_workers.child.orders import FORK_INSIDE_WALLS
from bench_workers.child.orders import FORK_PLAINLY
from bench_workers.child.orders import ORDER
from bench_workers.child.orders import REAP
from xeforge.errors import PlatformError

_ANSWER_SECONDS = 60.0
_ANSWER_BYTES = 4096
_CREDENTIALS = struct.Struct("3i")


class ZygoteGone(PlatformError):
    """The zygote has ended; children cannot be had from it any more."""


class CannotFork(PlatformError):
    """What the zygote has imported does not survive a fork here."""


class ZygoteLine:
    """Gives orders to a zygote, one at a time, and ends it when nobody needs it any more.

    Args:
        connection: Host's end of a socket that keeps messages apart; owned from now on.
        end: Ends the zygote and gives back what it has; called once.
    """

    def __init__(self, connection: socket.socket, end: Callable[[], None]) -> None:
        self._connection = connection
        self._end = end
        self._lock = threading.RLock()
        self._living = 0
        self._is_retired = False
        self._has_ended = False

    def hear(self, *, seconds: float) -> bytes:
        """Return the next message, empty when the zygote has gone.

        Raises:
            TimeoutError: None came.
        """
        try:
            self._connection.settimeout(seconds)
            return self._connection.recv(_ANSWER_BYTES)
        except TimeoutError:
            raise
        except OSError:  # also when another thread has closed it meanwhile
            return b""

    def fork(self, descriptors: Sequence[int], *, is_nested: bool) -> int:
        """Have a child forked that gets the descriptors; return its number inside.

        Raises:
            ZygoteGone: There is no zygote any more.
            CannotFork: The message says why.
        """
        with self._lock:
            kind = FORK_INSIDE_WALLS if is_nested else FORK_PLAINLY
            number = self._order(ORDER.pack(kind, 0), descriptors)
            self._living += 1
            return number

    def reap(self, number: int) -> int | None:
        """Let an ended child's number go; return how it ended, None when nobody knows."""
        with self._lock:
            try:
                return self._order(ORDER.pack(REAP, number))
            except PlatformError:
                return None
            finally:
                self._living -= 1
                self._end_unless_needed()

    def retire(self) -> None:
        """End the zygote as soon as its last child has ended."""
        with self._lock:
            self._is_retired = True
            self._end_unless_needed()

    def _end_unless_needed(self) -> None:
        if self._is_retired and self._living == 0 and not self._has_ended:
            self._has_ended = True
            self._end()  # whoever listens hears of it, for the socket is still open
            self._connection.close()

    def _order(self, order: bytes, descriptors: Sequence[int] = ()) -> int:
        try:
            self._connection.settimeout(_ANSWER_SECONDS)
            socket.send_fds(self._connection, [order], descriptors)
            answer = self.hear(seconds=_ANSWER_SECONDS)
        except OSError as error:  # a late answer would be taken for the next one's
            self._connection.close()
            raise ZygoteGone(f"the zygote does not answer: {error}") from error
        if len(answer) < ORDER.size:
            raise ZygoteGone("the zygote has ended")
        sign, number = ORDER.unpack_from(answer)
        if sign != DONE:
            raise CannotFork(answer[ORDER.size :].decode(errors="replace"))
        return int(number)


class Forked:
    """The first process of a forked child; the zygote is its parent and tells how it ended.

    Args:
        line: To the zygote.
        number: Its process id as the zygote sees it.
        pid: The same as this process sees it.
        stdout: What it prints.
        stderr: What it prints as errors.

    Attributes:
        end: Descriptor that becomes readable when it ends, for whoever watches; not closed here.

    Raises:
        OSError: The kernel gives no descriptors of it.
    """

    def __init__(
        self, line: ZygoteLine, number: int, pid: int, stdout: IO[bytes], stderr: IO[bytes]
    ) -> None:
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self.stderr: IO[bytes] | None = stderr
        self.returncode: int | None = None
        self._line = line
        self._number = number
        self._end = os.pidfd_open(pid)
        self.end = os.dup(self._end)
        self._lock = threading.Lock()
        self._is_reaped = False

    def wait(self) -> int | None:
        """Wait for its end; return how it ended, None when the zygote has gone."""
        with self._lock:
            if not self._is_reaped:
                poll = select.poll()
                poll.register(self._end, select.POLLIN)
                poll.poll()
                os.close(self._end)
                self.returncode = self._line.reap(self._number)
                self._is_reaped = True
            return self.returncode


def hear_birth(connection: socket.socket, *, seconds: float) -> int:
    """Wait for a forked child's first byte; return its process id, which the kernel vouches for.

    Raises:
        PlatformError: It did not come.
    """
    connection.settimeout(seconds)
    room = socket.CMSG_SPACE(_CREDENTIALS.size)
    try:
        data, extra, _, _ = connection.recvmsg(len(BORN), room)
    except OSError as error:
        raise PlatformError(f"a forked child does not announce itself: {error}") from error
    found = [
        _CREDENTIALS.unpack(content)[0]
        for level, kind, content in extra
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    ]
    if data != BORN or not found or found[0] <= 0:
        raise PlatformError("a forked child ended before it announced itself")
    return int(found[0])


def ask_for_credentials(connection: socket.socket, *, is_wanted: bool) -> None:
    """Have the kernel say with each message which process sent it."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, int(is_wanted))
