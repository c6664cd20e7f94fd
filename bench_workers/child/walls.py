"""What a forked child does to itself before anyone's code runs in it.

The host sends one message that says what to become:
    token: Word that marks its processes; the zygote's own has the same length.
    zygote_token: The word it replaces.
    folder: Name of its folder below ``CHILDREN``.
    home, environment: Where it works, and variables to set.
    uid: User to become; None: stay, and be nobody behind walls.
    shared_memory_bytes, limits: Numbers of the policy.
    kept: Paths below the private folders that must stay visible.
    numbers: Under which numbers it expects the descriptors that came along.
"""

import os
import resource
from pathlib import Path
from typing import Any

import kernel  # type: ignore[import-not-found, unused-ignore]

CHILDREN = "/children"
JOB, TEMPORARY = "/job", "/tmp"  # noqa: S108  (its own)
_NOBODY = 65534
_NAMESPACES = kernel.NEW_MOUNTS | kernel.NEW_IPC | kernel.NEW_NETWORK | kernel.NEW_HOST_NAME
_TERMINALS, _SHARED_MEMORY = "/dev/pts", "/dev/shm"  # noqa: S108  (the same)
_KERNEL_FOLDERS = tuple(f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus"))
_USER_NAMESPACES = "user/max_user_namespaces"
_NOTHING = "0" * 16


def build(message: dict[str, Any]) -> int:
    """Enter own namespaces and put own folders in the place of the zygote's.

    Returns:
        A descriptor of the kernel's settings, which are closed to writing from now on.

    Raises:
        OSError: The kernel refuses.
        RuntimeError: The folder of all children is still to be seen.
    """
    kernel.unshare(_NAMESPACES)
    kernel.mount(None, "/", flags=kernel.MOUNT_RECURSIVE | kernel.MOUNT_PRIVATE)
    kept = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in message["kept"]]
    folder = f"{CHILDREN}/{message['folder']}"
    for name, target in (("job", JOB), ("tmp", TEMPORARY)):
        kernel.mount(f"{folder}/{name}", target, flags=kernel.MOUNT_BIND)
    for path, descriptor in kept:
        _show_again(path, descriptor)
    kernel.unmount(CHILDREN)
    if any(Path(CHILDREN).iterdir()):
        raise RuntimeError("the folder of all children can be seen")
    flags = kernel.MOUNT_NO_SUID | kernel.MOUNT_NO_PROGRAMS
    if Path(_TERMINALS).is_dir():
        options = "newinstance,ptmxmode=0666,mode=620"
        kernel.mount("devpts", _TERMINALS, kind="devpts", flags=flags, data=options)
    flags = kernel.MOUNT_NO_SUID | kernel.MOUNT_NO_DEVICES
    size = f"mode=1777,size={message['shared_memory_bytes']}"
    kernel.mount("tmpfs", _SHARED_MEMORY, kind="tmpfs", flags=flags, data=size)
    flags |= kernel.MOUNT_NO_PROGRAMS
    kernel.mount("proc", "/proc", kind="proc", flags=flags)
    settings = os.open("/proc/sys", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in filter(os.path.exists, _KERNEL_FOLDERS):
        kernel.mount(name, name, flags=kernel.MOUNT_BIND | kernel.MOUNT_RECURSIVE)
        again = kernel.MOUNT_BIND | kernel.MOUNT_REMOUNT | kernel.MOUNT_READ_ONLY
        kernel.mount(None, name, flags=again | flags)
    return settings


def _show_again(path: str, descriptor: int) -> None:
    """Put something that a private folder now hides back in its place."""
    source = f"/proc/self/fd/{descriptor}"
    target = Path(path)
    if Path(source).is_dir():
        target.mkdir(mode=0o755, parents=True, exist_ok=True)
    else:
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        target.touch()
    kernel.mount(source, path, flags=kernel.MOUNT_BIND | kernel.MOUNT_RECURSIVE)
    os.close(descriptor)


def mark(message: dict[str, Any]) -> None:
    """Carry the own token instead of the zygote's where the host looks for it."""
    kernel.overwrite(message["zygote_token"].encode(), message["token"].encode())
    os.environ.update(message["environment"])


def become(message: dict[str, Any], settings: int | None) -> None:
    """Give up user, groups and all privileges for good.

    Args:
        message: See above.
        settings: What `build` returned; None: there are no walls.

    Raises:
        OSError: The kernel refuses.
        RuntimeError: Something is left.
    """
    uid = message["uid"]
    if uid is None and settings is not None:
        _become_nobody(settings)
    if settings is not None:
        os.close(settings)
    kernel.give_up_new_privileges()
    is_privileged = _status()["CapEff"] != _NOTHING
    if is_privileged:
        kernel.empty_bounding_set()
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.set_dumpable(is_dumpable=False)
    _see_that_nothing_is_left(uid, is_privileged=is_privileged)


def _become_nobody(settings: int) -> None:
    """Enter a user namespace of its own, in which no other can be made."""
    uid, gid = os.getuid(), os.getgid()
    kernel.set_dumpable(is_dumpable=True)  # else the maps below belong to root
    kernel.unshare(kernel.NEW_USERS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_NOBODY} {uid} 1"),
        ("gid_map", f"{_NOBODY} {gid} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    limit = os.open(_USER_NAMESPACES, os.O_RDWR | os.O_CLOEXEC, dir_fd=settings)
    os.write(limit, b"0")
    if os.pread(limit, 16, 0).strip() != b"0":
        raise RuntimeError("user namespaces cannot be forbidden")
    os.close(limit)


def _see_that_nothing_is_left(uid: int | None, *, is_privileged: bool) -> None:
    """Look at what the kernel says, whatever the calls before have answered.

    Raises:
        RuntimeError: Something is left.
    """
    status = _status()
    names = ("CapInh", "CapPrm", "CapEff", "CapAmb", *(("CapBnd",) if is_privileged else ()))
    left = [name for name in names if status[name] != _NOTHING]
    if left or status["NoNewPrivs"] != "1":
        raise RuntimeError(f"privileges are left: {', '.join(left) or 'set-user-id programs'}")
    if uid is not None:
        users = {*status["Uid"].split(), *status["Gid"].split(), *status["Groups"].split()}
        if users != {str(uid)}:
            raise RuntimeError("another user is left")


def _status() -> dict[str, str]:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return {name: text.strip() for name, text in (line.split(":", 1) for line in lines)}


def limit(message: dict[str, Any]) -> None:
    """Set the kernel's limits; last, for they hold for this process's own work too."""
    for name, number in message["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (number, number))
