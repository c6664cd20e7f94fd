"""The host's end of the control socket: one question, one answer, before a deadline."""

import os
import select
import socket
import time
from typing import Any

from bench_workers.child.protocol import Frames

_CHUNK_BYTES = 1 << 18
_LOOK_SECONDS = 0.02


class Deadline(Exception):
    """The time is up."""


class Closed(Exception):
    """The other side has gone."""


class Channel:
    """Exchanges frames with a process that may lie, stall or vanish.

    Args:
        connection: Host's end of the socket pair; owned from now on.
        pid: The process. Its end is watched too, for a fork of it may keep the socket open, so
            that closing does not tell.
        end: Descriptor that becomes readable when it ends, owned from now on; may be None for a
            child process of this one.
    """

    def __init__(self, connection: socket.socket, pid: int, end: int | None = None) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._pid = pid
        self._end = _end_descriptor(pid) if end is None else end
        self._frames = Frames()

    def has_process_ended(self) -> bool:
        """Say whether the process is gone, without waiting for it."""
        if self._end is not None:
            poll = select.poll()
            poll.register(self._end, select.POLLIN)
            return bool(poll.poll(0))
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._pid, flags) is not None
        except ChildProcessError:  # it was waited for already
            return True

    def wait_for_end(self, seconds: float) -> bool:
        """Wait for the process to end by itself; say whether it did."""
        until = time.monotonic() + seconds
        while not self.has_process_ended() and (left := until - time.monotonic()) > 0:
            self._wait_for(select.poll(), left)
        return self.has_process_ended()

    def exchange(self, frame: bytes, *, seconds: float) -> dict[str, Any]:
        """Send a frame, which may be empty, and return the next message.

        Raises:
            Deadline: No whole message came in time.
            Closed: The process ended or closed its side.
            ProtocolError: Something came that is no message.
        """
        until = time.monotonic() + seconds
        rest = memoryview(frame)
        while True:
            message = self._frames.take()
            if message is not None and not rest:
                return message
            is_ended = self._wait(until, is_sending=bool(rest))
            rest = self._send(rest)
            if not self._receive() and is_ended:
                raise Closed

    def close(self) -> None:
        """Give both descriptors back."""
        self._connection.close()
        if self._end is not None:
            os.close(self._end)

    def _wait(self, until: float, *, is_sending: bool) -> bool:
        """Wait for anything to happen; say whether the process has ended."""
        seconds = until - time.monotonic()
        if seconds <= 0:
            raise Deadline
        poll = select.poll()
        poll.register(self._connection, select.POLLIN | (select.POLLOUT if is_sending else 0))
        self._wait_for(poll, seconds)
        return self.has_process_ended()

    def _wait_for(self, poll: select.poll, seconds: float) -> None:
        """Wait for what a poll knows and for the end of the process."""
        if self._end is None:
            poll.poll(min(seconds, _LOOK_SECONDS) * 1000)
        else:
            poll.register(self._end, select.POLLIN)
            poll.poll(seconds * 1000)

    def _send(self, rest: memoryview) -> memoryview:
        if not rest:
            return rest
        try:
            return rest[self._connection.send(rest) :]
        except BlockingIOError:
            return rest
        except OSError:  # broken pipe: the reading side finds out what happened
            return rest[len(rest) :]

    def _receive(self) -> bool:
        """Take in what has come; say whether anything had."""
        try:
            data = self._connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            raise Closed from None
        if not data:
            raise Closed
        self._frames.feed(data)
        return True


def _end_descriptor(pid: int) -> int | None:
    """Return a descriptor that becomes readable when a process ends; None on old kernels."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
