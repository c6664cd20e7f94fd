"""What children of one zygote must neither see of each other nor leave behind."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from bench_workers.sandbox.policy import default_policy
from tests.conformance.sandbox import Starter
from tests.conformance.sandbox import carriers
from tests.conformance.sandbox import lines
from tests.conformance.sandbox import token_of
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateRaised

SEARCH = """
import os
found = []
for folder, folders, files in os.walk('/'):
    folders[:] = [n for n in folders if os.path.join(folder, n) not in payload['skipped']]
    found += [os.path.join(folder, n) for n in files + folders if payload['mark'] in n]
answer['found'] = found
answer['all'] = os.listdir('/children')
"""
LISTEN = """
import socket, threading
for kind, name in ((socket.AF_UNIX, chr(0) + 'sibling'), (socket.AF_INET, ('0.0.0.0', 45454))):
    listener = socket.socket(kind)
    listener.bind(name)
    listener.listen()
    __import__('sys').modules['kept' + str(kind)] = listener
"""
CALL = """
import socket
answer['refused'] = []
for kind, name in ((socket.AF_UNIX, chr(0) + 'sibling'), (socket.AF_INET, ('127.0.0.1', 45454))):
    try:
        socket.socket(kind).connect(name)
    except OSError as error:
        answer['refused'].append(type(error).__name__)
"""
FIRST_PROCESS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
answer['opened'] = []
for name in ('mem', 'environ', 'maps', 'fd/0', 'root', 'cwd', 'ns/mnt'):
    path = '/proc/1/' + name
    try:
        os.listdir(path) if name in ('root', 'cwd') else os.close(os.open(path, os.O_RDONLY))
        answer['opened'].append(name)
    except OSError:
        pass
answer['traced'] = libc.ptrace(16, 1, 0, 0)
try:
    os.kill(1, 9)
except OSError:
    pass
"""


def memory_of(pid: int) -> bytes:
    """Return everything a process can write to."""
    parts = []
    with (
        Path(f"/proc/{pid}/maps").open(encoding="utf-8") as maps,
        Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory,
    ):
        for line in maps:
            where, mode = line.split()[:2]
            if mode.startswith("rw"):
                start, end = (int(each, 16) for each in where.split("-"))
                memory.seek(start)
                with suppress(OSError):
                    parts.append(memory.read(end - start))
    return b"".join(parts)


class PoisonSuite:
    """For children from a zygote; ``starter`` forks them all from the same one."""

    def test_what_a_child_spoils_the_next_does_not_find(self, starter: Starter) -> None:
        spoil = (
            "import builtins, json, os, sys, protocol\n"
            "builtins.open = None; builtins.len = lambda _: 7\n"
            "sys.modules['json'] = None; sys.path[:] = []; sys.modules['planted'] = sys\n"
            "protocol.encode = None; os.environ['PLANTED'] = '1'; os.fork = None\n"
            "os.getpid = lambda: 1\n"
        )
        with pytest.raises(CandidateDied):  # it cannot even answer
            lines(starter(), spoil)
        look = (
            "import builtins, json, os, sys\n"
            "answer['open'] = open('/proc/self/comm').read() != ''\n"
            "answer['len'] = len('four')\n"
            "answer['planted'] = 'planted' in sys.modules or 'PLANTED' in os.environ\n"
        )
        assert lines(starter(), look) == {"open": True, "len": 4, "planted": False}
        assert lines(starter(), "import os\nanswer['forks'] = callable(os.fork)") == {"forks": True}

    def test_random_numbers_differ_between_siblings(self, starter: Starter) -> None:
        source = "import random\nanswer['drawn'] = random.random()"
        assert lines(starter(), source) != lines(starter(), source)

    def test_the_end_of_one_leaves_the_others(self, starter: Starter) -> None:
        first, second = starter(), starter()
        with pytest.raises(CandidateDied, match="killed by SIGKILL"):
            lines(first, "import os\nos.kill(os.getpid(), 9)")
        assert carriers(token_of(first)) == []
        assert second.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
        assert len(carriers(token_of(second))) >= 1

    def test_memory_holds_nothing_of_a_sibling(self, starter: Starter) -> None:
        first = starter()
        first.request("echo", {"secret": "a sibling's own words"}, deadline_seconds=10)
        second = starter()
        (*_, last) = second._family.members(is_thorough=True)
        seen = memory_of(last.pid)
        assert token_of(second).encode() in seen  # so the search searched
        assert token_of(first).encode() not in seen
        assert first.directory.parent.name.encode() not in seen
        assert b"a sibling's own words" not in seen

    def test_descriptors_of_a_sibling_are_not_there(self, starter: Starter) -> None:
        ours, others = os.memfd_create("ours"), os.memfd_create("others")
        first, second = starter(inherit=(ours,)), starter(inherit=(others,))
        os.close(ours)
        os.close(others)
        source = (
            "import os\n"
            "answer['names'] = []\n"
            "for number in os.listdir('/proc/self/fd'):\n"
            "  try: answer['names'].append(os.readlink('/proc/self/fd/' + number))\n"
            "  except OSError: pass\n"
        )
        for child, name in ((first, "ours"), (second, "others")):
            names = lines(child, source)["names"]
            assert [each for each in names if "memfd" in each] == [f"/memfd:{name} (deleted)"]


class SiblingSuite(PoisonSuite):
    """For layers with walls."""

    def test_files_of_a_sibling_are_nowhere(self, starter: Starter) -> None:
        first, second = starter(), starter()
        lines(first, "for at in ('/job', '/tmp', '/dev/shm'): open(at + '/sibling', 'w').close()")
        skipped = ["/usr", "/proc", *map(str, default_policy("cpu", layer="bare").readable)]
        found = lines(first, SEARCH, mark="sibling", skipped=skipped)["found"]
        assert sorted(found) == ["/dev/shm/sibling", "/job/sibling", "/tmp/sibling"]
        found = lines(second, SEARCH, mark="sibling", skipped=skipped)
        assert found == {"found": [], "all": []}

    def test_a_sibling_cannot_be_called(self, starter: Starter) -> None:
        first, second = starter(), starter()
        lines(first, LISTEN)
        assert lines(second, CALL) == {"refused": ["ConnectionRefusedError", "OSError"]}

    def test_shared_memory_segments_of_a_sibling_are_not_found(self, starter: Starter) -> None:
        first, second = starter(), starter()
        source = (
            "import ctypes\n"
            "answer['id'] = ctypes.CDLL(None).shmget(0x5eed, 4096, payload['flags'])\n"
        )
        assert lines(first, source, flags=0o1666)["id"] >= 0
        assert lines(second, source, flags=0o666) == {"id": -1}

    def test_killing_everything_kills_nobody_else(self, starter: Starter) -> None:
        first, second = starter(), starter()
        lines(first, "import os\ntry: os.kill(-1, 9)\nexcept ProcessLookupError: pass")
        for pid in (second.pid, os.getpid()):
            with pytest.raises(CandidateRaised, match="ProcessLookupError"):
                lines(first, f"import os\nos.kill({pid}, 9)")
        assert second.request("echo", {}, deadline_seconds=10) == {}
        assert starter().request("echo", {}, deadline_seconds=10) == {}

    def test_the_first_process_of_its_table_is_closed_to_it(self, starter: Starter) -> None:
        child = starter()
        assert lines(child, FIRST_PROCESS) == {"opened": [], "traced": -1}
        assert child.request("echo", {}, deadline_seconds=10) == {}

    def test_what_its_own_folders_cover_stays_covered(self, starter: Starter) -> None:
        source = (
            "import ctypes, os\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "libc.unshare(0x10020000)\n"  # where it can: own users and mounts
            "answer['undone'] = [p for p in ('/job', '/tmp', '/dev/shm', '/proc')\n"
            "  if libc.umount2(p.encode(), 2) == 0]\n"
        )
        assert lines(starter(), source) == {"undone": []}
