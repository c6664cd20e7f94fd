import subprocess
import sys
import threading

import pytest

from bench_workers.sandbox import family as module
from bench_workers.sandbox.family import Family
from xeforge.errors import PlatformError

TREE = "import subprocess, sys; print(flush=True); subprocess.run(['cat'])"


@pytest.fixture
def first():
    with subprocess.Popen(
        [sys.executable, "-S", "-c", TREE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={"MARK": "token-of-a-test"},
    ) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_children_are_members_and_all_end(first):
    family = Family(first, uid=None, token="token-of-a-test")
    pause = threading.Event()
    while len(family.members(is_thorough=True)) < 2:
        pause.wait(0.01)
    members = family.members(is_thorough=True)
    assert first.pid in {member.pid for member in members}
    assert all(member.session == first.pid for member in members)
    family.end()
    assert family.members() == ()
    assert first.returncode is not None
    family.end()


def test_memory_counts_what_is_its_own(first):
    (member, *_) = Family(first, uid=None, token="token-of-a-test").members(is_thorough=True)
    assert 100_000 < member.memory_bytes() < 100_000_000


def test_an_ended_process_takes_no_memory(first):
    family = Family(first, uid=None, token="token-of-a-test")
    (member, *_) = family.members(is_thorough=True)
    family.end()
    assert member.memory_bytes() == 0


def test_what_cannot_be_ended_is_our_fault(first, monkeypatch):
    monkeypatch.setattr(module.os, "kill", lambda *_: None)
    monkeypatch.setattr(module, "_END_SECONDS", 0.05)
    family = Family(first, uid=None, token="token-of-a-test")
    with pytest.raises(PlatformError, match=f"cannot be ended: .*{first.pid}"):
        family.end()
    monkeypatch.undo()
    family.end()
