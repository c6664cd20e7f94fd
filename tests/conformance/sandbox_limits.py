"""What every isolation layer must not let a child take."""

import os
from contextlib import suppress

import pytest

from tests.conformance.sandbox import MIB
from tests.conformance.sandbox import PAUSE
from tests.conformance.sandbox import Starter
from tests.conformance.sandbox import carriers
from tests.conformance.sandbox import lines
from tests.conformance.sandbox import token_of
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateRaised


class LimitSuite:
    """Subclass beside `SandboxSuite`; uses the same fixture."""

    def test_taking_too_much_memory_names_the_limit(self, starter: Starter) -> None:
        child = starter(memory_bytes=200 * MIB)
        with pytest.raises(CandidateDied, match="memory limit of 200 MiB reached"):
            lines(child, "kept = []\nwhile True: kept.append(b'x' * (1 << 20))")
        assert carriers(token_of(child)) == []

    def test_memory_of_all_processes_counts(self, starter: Starter) -> None:
        source = (
            "import os, signal\n"
            "for _ in range(4):\n"
            "  if os.fork() == 0:\n"
            "    kept = bytearray(b'x' * (80 << 20))\n"
            "    while True: signal.pause()\n"
            "while True: signal.pause()\n"
        )
        with pytest.raises(CandidateDied, match="memory limit of 200 MiB reached"):
            lines(starter(memory_bytes=200 * MIB), source)

    def test_memory_below_the_limit_is_left_alone(self, starter: Starter) -> None:
        source = "kept = b'x' * (64 << 20)\n" + PAUSE + "\nanswer['n'] = len(kept)"
        assert lines(starter(memory_bytes=200 * MIB), source) == {"n": 64 * MIB}

    def test_inherited_shared_memory_does_not_count(self, starter: Starter) -> None:
        shared = os.memfd_create("arena")
        os.truncate(shared, 256 * MIB)
        child = starter(memory_bytes=200 * MIB, inherit=(shared,))
        source = (
            "import mmap\n"
            "view = mmap.mmap(payload['fd'], 256 << 20)\n"
            "for at in range(0, len(view), 4096): view[at] = 7\n" + PAUSE
        )
        assert lines(child, source, fd=shared) == {}
        assert os.pread(shared, 1, 4096) == b"\x07"
        os.close(shared)

    def test_a_flood_of_output_is_bounded(self, starter: Starter) -> None:
        child = starter(output_bytes=8 * MIB)
        with pytest.raises(CandidateDied, match="printed more than 8 MiB") as caught:
            lines(child, "import os\nwhile True: os.write(2, b'noise ' * 10_000)")
        assert len(caught.value.stderr_tail) == 2000
        child = starter()
        lines(child, "import sys\nfor n in range(50_000): print(n, file=sys.stderr)")
        assert len(child.stderr_tail) <= 2000

    def test_filling_the_disk_names_the_limit(self, starter: Starter) -> None:
        child = starter(disk_bytes=20 * MIB, file_size_bytes=8 * MIB)
        with pytest.raises(CandidateRaised, match="File too large"):
            lines(child, "open('big', 'wb').write(b'x' * (9 << 20))")
        source = (
            "import itertools\n"
            "for n in itertools.count():\n"
            "  open(f'file{n % 40}', 'wb').write(b'x' * (1 << 20))\n"
        )
        with pytest.raises(CandidateDied, match="disk limit of 20 MiB reached"):
            lines(child, source)

    def test_cpu_time_is_limited(self, starter: Starter) -> None:
        with pytest.raises(CandidateDied, match=r"killed by SIG(XCPU|KILL)"):
            lines(starter(cpu_seconds=1), "while True: pass", seconds=60)

    def test_core_files_are_not_written_and_files_are_limited(self, starter: Starter) -> None:
        source = (
            "import resource\n"
            "answer['core'] = resource.getrlimit(resource.RLIMIT_CORE)\n"
            "answer['files'] = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        )
        assert lines(starter(files=77), source) == {"core": [0, 0], "files": [77, 77]}

    def test_a_fork_storm_is_stopped(self, starter: Starter) -> None:
        child = starter(processes=40)
        source = (
            "import os, signal\n"
            "for _ in range(400):\n"
            "  try:\n"
            "    if os.fork() == 0:\n"
            "      while True: signal.pause()\n"
            "  except OSError: break\n" + PAUSE + "\nanswer['stopped'] = True\n"
        )
        with suppress(CandidateDied):  # unless the kernel refused first, the watch ends it
            assert lines(child, source) == {"stopped": True}
        child.close()
        assert carriers(token_of(child)) == []
