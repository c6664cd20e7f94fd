"""A name tells whether its process lives, has ended or cannot be judged from here."""

import os
import subprocess
import sys

import pytest

from xeforge.adapters import local_worker as module
from xeforge.adapters.local_worker import is_worker_alive
from xeforge.adapters.local_worker import local_worker

PRINT_NAME = "from xeforge.adapters.local_worker import local_worker; print(local_worker())"


@pytest.fixture
def other():
    """Another process that has said its name and waits."""
    code = f"{PRINT_NAME}; import sys; sys.stdout.flush(); sys.stdin.read()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_this_process_lives_and_keeps_its_name() -> None:
    assert is_worker_alive(local_worker()) is True
    assert local_worker() == local_worker()


def test_a_killed_process_is_dead_before_and_after_it_is_reaped(other) -> None:
    process, name = other
    assert is_worker_alive(name) is True
    assert name != local_worker()
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_worker_alive(name) is False
    process.wait()
    assert is_worker_alive(name) is False


def changed(position: int, value: str) -> str:
    parts = local_worker().split("/")
    parts[position] = value
    return "/".join(parts)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (changed(0, "elsewhere"), None),
        (changed(1, "an-earlier-boot"), False),
        (changed(1, "-"), None),
        (changed(2, "pid:[1]"), None),
        (changed(3, "x"), None),
        (changed(4, "1"), False),
        ("bench-7", None),
        ("", None),
        ("host:123", None),
    ],
    ids=[
        "another host",
        "before a reboot",
        "boot not known",
        "another namespace",
        "no process id",
        "id used again",
        "free name",
        "empty",
        "short name",
    ],
)
def test_names_are_judged_only_as_far_as_can_be_seen(name, expected) -> None:
    assert is_worker_alive(name) is expected


def test_without_a_process_table_nothing_is_judged(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(module, "_PROC", tmp_path)
    monkeypatch.setattr(module, "_BOOT_ID", tmp_path / "boot_id")
    name = local_worker()
    assert name.split("/")[1:3] == ["-", "-"]
    assert name.endswith(f"/{os.getpid()}/-")
    assert is_worker_alive(name) is None
