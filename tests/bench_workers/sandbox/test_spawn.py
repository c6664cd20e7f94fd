import os
import threading

import pytest

from bench_workers.sandbox.spawn import spawn
from xeforge.errors import OutOfHostResources
from xeforge.errors import ToolchainMissing


def test_a_command_gets_only_what_is_named():
    kept = os.memfd_create("kept")
    left_out = os.memfd_create("left out")
    os.set_inheritable(left_out, True)
    script = "echo $$ $PPID; env; ls /proc/self/fd"
    process = spawn(["/bin/sh", "-c", script], environment={"A": "1"}, keep=(kept,))
    text, _ = process.communicate()
    found = text.decode().split()
    os.close(kept)
    os.close(left_out)
    assert int(found[0]) == process.pid
    assert "A=1" in found
    assert str(kept) in found
    assert str(left_out) not in found[found.index("A=1") :]


def test_it_leads_a_session_of_its_own():
    process = spawn(["/bin/cat", "/proc/self/stat"], environment={}, keep=())
    text, _ = process.communicate()
    fields = text.decode().rpartition(")")[2].split()
    assert int(fields[3]) == process.pid


def test_a_missing_program_is_named():
    with pytest.raises(ToolchainMissing, match="no-such-program is not installed"):
        spawn(["no-such-program"], environment={}, keep=())


def test_what_the_machine_refuses_is_told():
    with pytest.raises(OutOfHostResources, match="cannot be started"):
        spawn(["/bin/echo", "x" * (1 << 22)], environment={}, keep=())


def test_the_thread_that_starts_processes_stays():
    spawn(["/bin/true"], environment={}, keep=()).communicate()
    names = [thread.name for thread in threading.enumerate()]
    spawn(["/bin/true"], environment={}, keep=()).communicate()
    assert names.count("sandbox-start") == 1
    assert [thread.name for thread in threading.enumerate()].count("sandbox-start") == 1
