"""Names for worker processes that let another process on the same machine see that one died.

A lease protects a step against being done twice at once. After a kill the holder cannot give it
back, and waiting for its expiry would keep a restarted command idle for many minutes. The name
of a worker therefore says which process it is; one that has verifiably ended holds nothing.
"""

import os
import socket
from collections.abc import Callable
from pathlib import Path

IsAlive = Callable[[str], bool | None]
"""Says of a worker's name whether its process lives; None: cannot be told from here."""

_PROC = Path("/proc")
_BOOT_ID = _PROC / "sys/kernel/random/boot_id"
_ENDED_STATES = frozenset("ZX")
_NOT_KNOWN = "-"


def local_worker() -> str:
    """Return the name of this process: host, boot, process namespace, process id, start time."""
    pid = os.getpid()
    return "/".join((*_here(), str(pid), _start_ticks(pid) or _NOT_KNOWN))


def is_worker_alive(worker: str) -> bool | None:
    """Say whether the process with this name lives; None for names from elsewhere.

    A name of the same host from before its last start belongs to an ended process. Process ids
    are used again, so the start time must agree as well.
    """
    parts = worker.split("/")
    if len(parts) != len(_here()) + 2 or not parts[3].isdecimal():
        return None
    host, boot, namespace, pid, start = parts
    own_host, own_boot, own_namespace = _here()
    if host != own_host or _NOT_KNOWN in {boot, own_boot}:
        return None
    if boot != own_boot:
        return False
    if namespace != own_namespace:
        return None
    return _start_ticks(int(pid)) == start


def _here() -> tuple[str, str, str]:
    """Return host name, boot id and process namespace, with a dash for what is not known."""
    host = socket.gethostname().replace("/", "_")
    try:
        boot = _BOOT_ID.read_text(encoding="ascii").strip()
        namespace = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        return host, _NOT_KNOWN, _NOT_KNOWN
    return host, boot, namespace


def _start_ticks(pid: int) -> str | None:
    """Return the start of a running process in clock ticks since boot; None when it has ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name may hold spaces and brackets; the fields after its last bracket do not.
    state, *fields = text.rpartition(")")[2].split()
    started = fields[18]
    return None if state in _ENDED_STATES else started
