"""A process with the large libraries imported that becomes a new child for each request.

It hears the host alone: an order of five bytes with descriptors. It keeps nothing of a child:
what a child shall be is read by the child itself, from its own control socket, after the fork.
So no child finds anything of another in the memory it inherits.
"""

import gc
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import kernel  # type: ignore[import-not-found, unused-ignore]
import orders  # type: ignore[import-not-found, unused-ignore]
import protocol  # type: ignore[import-not-found, unused-ignore]
import walls  # type: ignore[import-not-found, unused-ignore]

_MOST_DESCRIPTORS = 32
_STANDARD = 3
_SIGNAL_EXIT = 128
_SINGLE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_HARMLESS_DEVICES = frozenset(f"/dev/{name}" for name in ("null", "zero", "random", "urandom"))
_MESSAGE_LIMIT_BYTES = 2000
_TASKS = Path("/proc/self/task")


def before_imports() -> None:
    """Keep libraries from starting threads as they are imported."""
    os.environ.update(_SINGLE_THREAD)


def after_imports() -> None:
    """Be as children shall be: no variables of ours, closed to others, no garbage to copy."""
    for name in _SINGLE_THREAD:
        os.environ.pop(name, None)
    kernel.set_dumpable(is_dumpable=False)
    gc.collect()
    gc.freeze()


def serve(channel: socket.socket) -> socket.socket:
    """Fork until the host closes; return in each child, with the child's control socket."""
    own = os.getpid()
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    while True:
        data, given, _, _ = socket.recv_fds(
            channel, orders.ORDER.size, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not data:
            os._exit(0)
        order, number = orders.ORDER.unpack(data)
        is_nested = order == orders.FORK_INSIDE_WALLS
        try:
            if order == orders.REAP:
                answer = _reap(number)
            else:
                _refuse_unless_clean()
                pid = _fork(own_pids, is_nested=is_nested)
                if pid == 0:
                    channel.close()
                    return _be_born(given, zygote=own, is_nested=is_nested)
                answer = orders.ORDER.pack(orders.DONE, pid)
        except (OSError, RuntimeError) as error:
            answer = (
                orders.ORDER.pack(orders.REFUSED, 0) + str(error).encode()[:_MESSAGE_LIMIT_BYTES]
            )
        for descriptor in given:
            os.close(descriptor)
        channel.send(answer)


def _reap(pid: int) -> bytes:
    """Return how a child ended: its status, or 128 and the signal that killed it."""
    found, status = os.waitpid(pid, os.WNOHANG)
    if found == 0:
        raise RuntimeError(f"process {pid} has not ended")
    return orders.ORDER.pack(orders.DONE, _in_one_number(status))


def _in_one_number(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return _SIGNAL_EXIT - code if code < 0 else code


def _refuse_unless_clean() -> None:
    """See that nothing is there that does not survive a fork.

    Raises:
        RuntimeError: A thread runs, or a device is open.
    """
    names = sorted((task / "comm").read_text().strip() for task in _TASKS.iterdir())
    if len(names) != 1:
        raise RuntimeError(
            f"the zygote has {len(names)} threads ({', '.join(names)}), so it cannot fork"
        )
    for entry in tuple(Path("/proc/self/fd").iterdir()):
        with suppress(FileNotFoundError):  # the listing's own descriptor is gone
            target = str(entry.readlink())
            if target not in _HARMLESS_DEVICES and entry.is_char_device():
                raise RuntimeError(f"the zygote holds {target} open, so it cannot fork")


def _fork(own_pids: int, *, is_nested: bool) -> int:
    """Fork; the child is the first of a process table of its own where walls are wanted."""
    if is_nested:
        kernel.enter(own_pids, kernel.NEW_PIDS)
        kernel.unshare(kernel.NEW_PIDS)
    sys.stdout.flush()
    sys.stderr.flush()
    return os.fork()


def _be_born(given: list[int], *, zygote: int, is_nested: bool) -> socket.socket:
    """Become the child that the host describes on the control socket; never return otherwise."""
    try:
        os.setsid()
        os.dup2(given[1], 1)
        os.dup2(given[2], 2)
        control = socket.socket(fileno=given[0])
        control.sendall(orders.BORN)  # the kernel adds who sent it
        message = protocol.receive(control, protocol.Frames())
        if message is None:
            os._exit(0)
        settings = walls.build(message) if is_nested else None
        walls.mark(message)
        walls.become(message, settings)
        os.chdir(message["home"])
        if is_nested:
            child = os.fork()
            if child:
                _reap_until(child)
        else:
            kernel.end_with_parent(signal.SIGKILL)
            if os.getppid() != zygote:
                os._exit(1)
        kernel.set_dumpable(is_dumpable=True)
        _draw_other_numbers()
        return _settle(control, given, message)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)


def _reap_until(child: int) -> None:
    """Be the first process of a table: reap what is left there, and end as the child ends."""
    import faulthandler

    faulthandler.disable()  # a handler would let the child's signals through to this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in range(_STANDARD):
        os.dup2(nothing, number)
    _close_all_but(set(range(_STANDARD)))
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            os._exit(_in_one_number(status))


def _settle(control: socket.socket, given: list[int], message: dict[str, Any]) -> socket.socket:
    """Put the descriptors where the role expects them, and close all others."""
    import fcntl

    numbers = [int(number) for number in message["numbers"]]
    free = max([_STANDARD, *numbers]) + 1
    moved = [
        fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, free)
        for each in (control.detach(), *given[_STANDARD:])
    ]
    nothing = fcntl.fcntl(os.open("/dev/null", os.O_RDONLY), fcntl.F_DUPFD_CLOEXEC, free)
    os.dup2(nothing, 0)
    _close_all_but({0, 1, 2, *moved})
    for descriptor, number in zip(moved[1:], numbers, strict=True):
        os.dup2(descriptor, number, inheritable=False)
        os.close(descriptor)
    walls.limit(message)
    return socket.socket(fileno=moved[0])


def _draw_other_numbers() -> None:
    """Reseed what was seeded at random before the fork; the standard library does so itself.

    Torch starts from a fixed seed in every process, so it is left alone.
    """
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


def _close_all_but(kept: set[int]) -> None:
    for entry in tuple(Path("/proc/self/fd").iterdir()):
        if int(entry.name) not in kept:
            with suppress(OSError):  # the listing's own descriptor is gone
                os.close(int(entry.name))
