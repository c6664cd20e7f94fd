"""Which user a child becomes, and where on the host it lives."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
_FIRST = 2_000_000_000  # far from accounts, directories' users and containers' ranges
_COUNT = 1 << 20

FOLDER_PREFIX = "xeforge-child-"
OWNER_FILE = "owner"
"""Beside a child's folders, where the child does not come; says which process they belong to."""


@dataclass(frozen=True, slots=True)
class Place:
    """The host's side of one child.

    Attributes:
        directory: Its private folder; the child may fill it with anything, links included, so
            whoever opens a file in it after the first request must not follow links.
        scratch: Second such folder, which a layer may show as the system's temporary folder.
        root: Empty folder that a layer may use as mount point.
        uid: User and group the child becomes, known to nobody else; None: the child keeps the
            user of this process, as seen from outside.
        token: Secret word in the child's environment by which stray processes are found.
    """

    directory: Path
    scratch: Path
    root: Path
    uid: int | None
    token: str

    @property
    def children(self) -> Path:
        """Folder beside the private ones; only a zygote's place has it."""
        return self.directory.parent / "children"


def fresh_uid() -> int:
    """Return a user id that no account has, so that limits per user are limits per child.

    Falls back to ``nobody`` where this process can only become few users.
    """
    first, _, count = Path("/proc/self/uid_map").read_text(encoding="ascii").split()[:3]
    is_mapped = int(first) == 0 and int(count) >= _FIRST + _COUNT
    return _FIRST + secrets.randbelow(_COUNT) if is_mapped else NOBODY


def this_process() -> str:
    """Name this process so that no other one, now or later, has the same name."""
    start = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19]
    return f"{this_table()} {os.getpid()} {int(start)}"


def this_table() -> str:
    """Name the process table in which this process's number means something."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"


def make_place(parent: Path, *, uid: int | None) -> Place:
    """Make the private folder of a child, owned by ``uid``."""
    token = secrets.token_hex(12)
    base = parent / f"{FOLDER_PREFIX}{token}"
    base.mkdir(mode=0o711, parents=True)
    (base / OWNER_FILE).write_text(this_process(), encoding="ascii")
    folders = tuple(base / name for name in ("job", "tmp", "root"))
    for folder in folders:
        folder.mkdir(mode=0o700)
    directory, scratch, root = folders
    if uid is not None:
        os.chown(directory, uid, uid)
        os.chown(scratch, uid, uid)
    return Place(directory=directory, scratch=scratch, root=root, uid=uid, token=token)
