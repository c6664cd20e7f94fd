"""A card is held by one process at a time, and given back however its holder ends."""

import fcntl
import os
import subprocess
import sys

import pytest

from bench_workers.host.lease import card_lease
from bench_workers.host.lease import lock_path
from xeforge.errors import OutOfHostResources

HOLDER = """
import sys
from pathlib import Path
from bench_workers.host.lease import card_lease
with card_lease("cuda", "0", Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def is_free(folder) -> bool:
    descriptor = os.open(lock_path("cuda", "0", folder), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def test_another_process_holds_the_card_until_it_is_killed(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert not is_free(tmp_path)
        holder.kill()
        holder.wait(timeout=30)
        assert is_free(tmp_path)


def test_the_lease_ends_with_the_block_also_after_an_error(tmp_path):
    def fail_inside():
        with card_lease("cuda", "0", tmp_path):
            assert not is_free(tmp_path)
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        fail_inside()
    assert is_free(tmp_path)


def test_two_cards_have_two_locks(tmp_path):
    with card_lease("cuda", "1", tmp_path), card_lease("cuda", "0", tmp_path):
        assert not is_free(tmp_path)


def test_the_interpreter_takes_no_lock(tmp_path):
    with card_lease("cpu", "0", tmp_path):
        assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path):
    missing = tmp_path / "missing"
    with (
        pytest.raises(OutOfHostResources, match="xeforge-cuda-0"),
        card_lease("cuda", "0", missing),
    ):
        pass
