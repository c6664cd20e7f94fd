"""The few system calls for which Python 3.11 has no names."""

import ctypes
import os
from pathlib import Path

NEW_MOUNTS = 0x0002_0000
NEW_HOST_NAME = 0x0400_0000
NEW_IPC = 0x0800_0000
NEW_USERS = 0x1000_0000
NEW_PIDS = 0x2000_0000
NEW_NETWORK = 0x4000_0000

MOUNT_READ_ONLY = 1
MOUNT_NO_SUID = 2
MOUNT_NO_DEVICES = 4
MOUNT_NO_PROGRAMS = 8
MOUNT_REMOUNT = 32
MOUNT_BIND = 4096
MOUNT_RECURSIVE = 16384
MOUNT_PRIVATE = 1 << 18

_UNMOUNT_DETACH = 2
_PR_SET_PARENT_DEATH_SIGNAL = 1
_PR_SET_DUMPABLE = 4
_PR_DROP_FROM_BOUNDING_SET = 24
_PR_SET_NO_NEW_PRIVILEGES = 38
_PR_AMBIENT, _PR_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION = 0x2008_0522
_LAST_CAPABILITY = "/proc/sys/kernel/cap_last_cap"

_LIBC = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def unshare(flags: int) -> None:
    """Give this process namespaces of its own; new process ids are for its next child."""
    _check(_LIBC.unshare(ctypes.c_int(flags)), "unshare")


def enter(namespace: int, kind: int) -> None:
    """Enter the namespace that a descriptor stands for."""
    _check(_LIBC.setns(ctypes.c_int(namespace), ctypes.c_int(kind)), "setns")


def mount(
    source: str | None,
    target: str,
    *,
    kind: str | None = None,
    flags: int = 0,
    data: str | None = None,
) -> None:
    """Mount something, or change how it is mounted."""
    result = _LIBC.mount(
        _bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(data)
    )
    _check(result, f"mount {target}")


def unmount(target: str) -> None:
    """Take a mount out of this process's view, even if it is in use elsewhere."""
    _check(_LIBC.umount2(_bytes(target), _UNMOUNT_DETACH), f"umount {target}")


def _control(option: int, value: int = 0) -> None:
    arguments = [ctypes.c_ulong(each) for each in (value, 0, 0, 0)]
    _check(_LIBC.prctl(ctypes.c_int(option), *arguments), f"prctl {option}")


def end_with_parent(signal: int) -> None:
    """Ask for a signal when the parent ends; forgotten whenever the user changes."""
    _control(_PR_SET_PARENT_DEATH_SIGNAL, signal)


def set_dumpable(*, is_dumpable: bool) -> None:
    """Say whether processes of the same user may trace this one and read its memory."""
    _control(_PR_SET_DUMPABLE, int(is_dumpable))


def give_up_new_privileges() -> None:
    """See that no program run from here on gains anything by set-user-id or file capabilities."""
    _control(_PR_SET_NO_NEW_PRIVILEGES, 1)


def empty_bounding_set() -> None:
    """See that no capability can be had again; needs the capability to do so."""
    last = int(Path(_LAST_CAPABILITY).read_text(encoding="ascii"))
    for number in range(last + 1):
        _control(_PR_DROP_FROM_BOUNDING_SET, number)


def drop_capabilities() -> None:
    """Give up every capability this process still holds."""
    _control(_PR_AMBIENT, _PR_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_LIBC.capset(header, nothing), "capset")


def overwrite(old: bytes, new: bytes) -> None:
    """Replace a word in this process's first environment, as others read it in /proc.

    Raises:
        ValueError: It is not there, or the new one is longer or shorter.
    """
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    at = ctypes.string_at(start, end - start).find(old)
    if at < 0 or len(old) != len(new):
        raise ValueError("the word to be replaced is not in the first environment")
    ctypes.memmove(start + at, new, len(new))
