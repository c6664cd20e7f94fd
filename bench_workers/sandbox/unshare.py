"""The same walls as bubblewrap's from the system's own tools, for machines that lack it."""

import shlex
from collections.abc import Mapping

from bench_workers.sandbox.bwrap import CHILDREN
from bench_workers.sandbox.bwrap import HARNESS
from bench_workers.sandbox.bwrap import HOME
from bench_workers.sandbox.bwrap import KERNEL_FOLDERS
from bench_workers.sandbox.bwrap import drop_user
from bench_workers.sandbox.identity import NOBODY
from bench_workers.sandbox.identity import Place
from bench_workers.sandbox.policy import CHILD_DIRECTORY
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.policy import system_links
from bench_workers.sandbox.policy import system_paths

NAME = "unshare"
PROGRAM = "unshare"
REMEDY = "apt-get install util-linux mount"
SUMMARY = "own root, processes, network by util-linux; read-only but for a private folder"
COUNTS_USERS = True
NESTS = True

_PLAIN_NODES = ("null", "zero", "full", "random", "urandom", "tty")
_NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child")


def harness(_place: Place) -> str:
    """Return the folder of the child's code as the child sees it."""
    return HARNESS


def home(_place: Place) -> str:
    """Return the private folder as the child sees it."""
    return HOME


def command(policy: Policy, place: Place, environment: Mapping[str, str]) -> list[str]:
    """Return the words to put in front of the child's own command.

    The shell that builds the root stays as the first process of the new process table: it
    reaps, and with its end everything in there ends.
    """
    words = _apart(_script(policy, place), maps_root=place.uid is None)
    if place.uid is None:
        words += [PROGRAM, "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--"]
    words += [*drop_user(place), "env", "-i"]
    return words + [f"{name}={value}" for name, value in environment.items()]


def zygote(
    policy: Policy, place: Place, environment: Mapping[str, str], *, changes_user: bool
) -> list[str]:
    """Return the words to put in front of a zygote's own command.

    It stays root in there, to put each child behind walls of its own.
    """
    script = _script(policy, place, _bind(str(place.children), CHILDREN, is_readonly=False))
    words = [*_apart(script, maps_root=not changes_user), "env", "-i"]
    return words + [f"{name}={value}" for name, value in environment.items()]


def _apart(script: str, *, maps_root: bool) -> list[str]:
    words = ["setpriv", "--pdeathsig", "KILL", PROGRAM, *_NAMESPACES]
    if maps_root:
        words += ["--user", "--map-root-user"]
    return [*words, "--", "sh", "-c", script, "sh"]


def _script(policy: Policy, place: Place, *more: str) -> str:
    root = str(place.root)
    lines = [
        "set -eu; umask 022",
        f"mount -t tmpfs -o mode=755,size=16m none {shlex.quote(root)}",
        f"cd {shlex.quote(root)}; mkdir -p proc dev/shm tmp job old .{HARNESS}",
        *(f"ln -s {shlex.quote(content)} .{shlex.quote(path)}" for content, path in system_links()),
        "mount -t proc proc proc",
        *(_shut(path) for path in KERNEL_FOLDERS),
        f"mount -t tmpfs -o mode=1777,size={policy.shared_memory_bytes} none dev/shm",
        "ln -s /proc/self/fd dev/fd",
    ]
    nodes = (*(f"/dev/{name}" for name in _PLAIN_NODES), *map(str, policy.device_nodes))
    lines += [_bind(node, node, is_readonly=False) for node in nodes]
    readable = (*system_paths(), *(str(path) for path in policy.readable))
    lines += [_bind(str(place.directory), HOME, is_readonly=False)]
    lines += [_bind(str(place.scratch), "/tmp", is_readonly=False)]  # noqa: S108
    lines += [_bind(path, path, is_readonly=True) for path in readable]
    lines += [_bind(str(CHILD_DIRECTORY), HARNESS, is_readonly=True)]
    lines += more
    lines += ["pivot_root . old; cd /; umount -l /old; rmdir /old"]
    lines += ["mount -o remount,bind,ro /", '"$@" || exit $?']
    return "\n".join(lines)


def _shut(path: str) -> str:
    """Return the commands that make a part of what is mounted read-only."""
    here = f".{shlex.quote(path)}"
    return f"mount --bind {here} {here}; mount -o remount,bind,ro {here}"


def _bind(source: str, target: str, *, is_readonly: bool) -> str:
    """Return the commands that show a host path inside, with an empty place made for it."""
    there, here = shlex.quote(source), f".{shlex.quote(target)}"
    make = (
        f"if [ -d {there} ]; then mkdir -p {here}; else mkdir -p $(dirname {here}); : >{here}; fi"
    )
    bind = f"mount --rbind {there} {here}"
    return f"{make}; {bind}" + (f"; mount -o remount,bind,ro {here}" if is_readonly else "")
