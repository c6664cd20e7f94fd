"""One card, one job at a time: a lock between all processes of this machine.

Jobs may run side by side (their audits in the interpreter and their builds need only the CPU), but
two kernels on one card would disturb each other's times.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_workers.host.visible import card_id
from xeforge.domain.device import Backend
from xeforge.errors import OutOfHostResources

_EVERYONE = 0o666
"""Jobs of different users share the card, so they share its lock."""


def lock_path(backend: Backend, card: str, folder: Path | None = None) -> Path:
    """Return where the lock of a card lies."""
    return (folder or Path(tempfile.gettempdir())) / f"xeforge-{backend}-{card}.lock"


@contextmanager
def card_lease(
    backend: Backend, card: str | None = None, folder: Path | None = None
) -> Iterator[None]:
    """Hold a card; wait while another process holds it. The interpreter needs no lease.

    The kernel drops the lock when its holder dies, however it dies.

    Args:
        backend: Torch device type.
        card: Number or UUID; None: the one that the user has made visible.
        folder: Of the locks; None: the system's temporary folder.

    Raises:
        OutOfHostResources: The lock cannot be opened.
    """
    if backend == "cpu":
        yield
        return
    path = lock_path(backend, card or card_id(backend), folder)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _EVERYONE)
    except OSError as error:
        raise OutOfHostResources(
            f"cannot open the card's lock {path}: {error.strerror}",
            remedy=f"make {path.parent} writable, or remove the file",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
