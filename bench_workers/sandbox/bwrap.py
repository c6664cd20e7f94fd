"""Bubblewrap: a root of its own with a few read-only folders, and every namespace there is."""

import shutil
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from bench_workers.sandbox.identity import NOBODY
from bench_workers.sandbox.identity import Place
from bench_workers.sandbox.policy import CHILD_DIRECTORY
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.policy import parents
from bench_workers.sandbox.policy import system_links
from bench_workers.sandbox.policy import system_paths

NAME = "bubblewrap"
PROGRAM = "bwrap"
REMEDY = "apt-get install bubblewrap"
HARNESS = "/harness/child"
HOME = "/job"
SUMMARY = "own root, processes, network; read-only but for a private folder"

COUNTS_USERS = True
NESTS = True
"""Whether children of a zygote get walls of their own inside the zygote's."""

CHILDREN = "/children"
"""Where a zygote finds the private folders of its children, as `child/walls.py` has it."""

_ZYGOTE_CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "DAC_OVERRIDE")
KERNEL_FOLDERS = tuple(
    path
    for path in ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
    if Path(path).exists()
)
"""Where the kernel of the whole machine is set."""

_AS_NOBODY = ("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))
_AS_MAPPED_ROOT = ("--unshare-user", "--uid", "0", "--gid", "0")
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")


def harness(_place: Place) -> str:
    """Return the folder of the child's code as the child sees it."""
    return HARNESS


def home(_place: Place) -> str:
    """Return the private folder as the child sees it."""
    return HOME


def command(policy: Policy, place: Place, environment: Mapping[str, str]) -> list[str]:
    """Return the words to put in front of the child's own command.

    As root the namespaces are made by root and the user is changed inside: so the mounts can
    come from anywhere, and limits per user hold, which they do not for a mapped root. As an
    ordinary user, or where root may not do that, a user namespace does it.
    """
    words = _apart(environment)
    if place.uid is None:
        words += ["--disable-userns", *_AS_NOBODY]
    words += _mounts(policy, place)
    words += ["--chdir", "/", "--"]
    return words + drop_user(place)


def zygote(
    policy: Policy, place: Place, environment: Mapping[str, str], *, changes_user: bool
) -> list[str]:
    """Return the words to put in front of a zygote's own command.

    It keeps what it needs to put each child behind walls of its own, and sees their folders.
    """
    words = _apart(environment)
    if not changes_user:
        words += _AS_MAPPED_ROOT  # anyone else would own neither its mounts nor its processes
    words += ["--cap-drop", "ALL"]
    more = () if changes_user else ("SETFCAP",)  # asked for by the kernel to map root away
    for name in (*_ZYGOTE_CAPABILITIES, *more):
        words += ["--cap-add", f"CAP_{name}"]
    words += _mounts(policy, place, ("--bind", str(place.children), CHILDREN))
    return [*words, "--chdir", "/", "--"]


def _apart(environment: Mapping[str, str]) -> list[str]:
    words = [
        shutil.which(PROGRAM) or PROGRAM,
        *_NAMESPACES,
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
    ]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return words


def drop_user(place: Place) -> list[str]:
    """Return the words that give up root for good; none when there is no user to become."""
    if place.uid is None:
        return ["setpriv", "--no-new-privs"]
    who = str(place.uid)
    nothing = ["--inh-caps=-all", "--bounding-set=-all", "--ambient-caps=-all"]
    return ["setpriv", "--reuid", who, "--regid", who, "--clear-groups", "--no-new-privs", *nothing]


def _mounts(policy: Policy, place: Place, more: Sequence[str] = ()) -> list[str]:
    """Build the root: what bubblewrap makes on the way would be closed to other users."""
    readable = (*system_paths(), *(str(path) for path in policy.readable))
    words = ["--perms", "0755", "--dir", "/tmp", "--bind", str(place.scratch), "/tmp"]  # noqa: S108
    for path in parents((*readable, f"{HARNESS}/x")):
        words += ["--perms", "0755", "--dir", path]
    for content, path in system_links():
        words += ["--symlink", content, path]
    words += _devices(policy.device_nodes, shared_memory_bytes=policy.shared_memory_bytes)
    words += ["--proc", "/proc"]
    for path in KERNEL_FOLDERS:  # a mapped root is still root to them
        words += ["--ro-bind", path, path]
    for path in readable:
        words += ["--ro-bind", path, path]
    words += ["--ro-bind", str(CHILD_DIRECTORY), HARNESS]
    words += ["--bind", str(place.directory), HOME]
    return [*words, *more, "--remount-ro", "/"]


def _devices(nodes: Sequence[object], *, shared_memory_bytes: int) -> list[str]:
    words = ["--dev", "/dev"]
    for node in nodes:
        words += ["--dev-bind", str(node), str(node)]
    words += ["--size", str(shared_memory_bytes), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
    return [*words, "--remount-ro", "/dev"]
