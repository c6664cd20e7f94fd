import subprocess
import sys

import pytest

from bench_workers.sandbox.identity import OWNER_FILE
from bench_workers.sandbox.identity import make_place
from bench_workers.sandbox.identity import this_process
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.start import start
from bench_workers.sandbox.sweep import sweep
from bench_workers.sandbox.sweep import sweep_once

KILLED = """
import os, pathlib, sys
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.zygote import Zygote
policy = default_policy("cpu", layer=sys.argv[1], work_directory=pathlib.Path(sys.argv[2]))
form = standing(policy.layer)
child = Zygote(policy, form.module, uid=form.uid).take("echo")
print(child.directory, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def left(tmp_path):
    """A folder as another process would leave it; call it with what to write as owner."""

    def make(owner=None):
        base = make_place(tmp_path, uid=None).directory.parent
        if owner is not None:
            (base / OWNER_FILE).write_text(owner)
        return base

    return make


@pytest.fixture
def dead():
    """The name of a process that has ended."""
    script = "from bench_workers.sandbox.identity import this_process; print(this_process())"
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_what_a_killed_process_left_goes_when_another_one_starts(tmp_path):
    layer = best_layer()
    command = [sys.executable, "-c", KILLED, layer, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(str(tmp_path))
    (base,) = tmp_path.iterdir()
    sweep_once.cache_clear()
    form = standing(layer)
    policy = default_policy("cpu", layer=layer, work_directory=tmp_path)
    with start("echo", policy, form.module, uid=form.uid()) as child:
        assert not base.exists()
        assert child.directory.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_living_process_keeps_its_folders(left, tmp_path):
    base = left()
    assert (base / OWNER_FILE).read_text() == this_process()
    assert sweep(tmp_path) == ()
    assert (base / "job").exists()


def test_a_dead_processes_folder_goes_whatever_is_in_it(left, tmp_path, dead):
    base = left(dead)
    (tmp_path / "ours").write_text("kept")
    (base / "job" / "link").symlink_to(tmp_path)
    assert sweep(tmp_path) == (base,)
    assert [path.name for path in tmp_path.iterdir()] == ["ours"]


def test_a_number_that_was_given_again_does_not_protect(left, tmp_path):
    table, pid, start = this_process().rsplit(" ", 2)
    base = left(f"{table} {pid} {int(start) - 1}")
    assert sweep(tmp_path) == (base,)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("-", "x", 1),  # another boot, or another machine's disk
        lambda text: " ".join([text.split()[0], "1", *text.split()[2:]]),  # another container
        lambda _: "",
        lambda _: "nonsense",
        lambda text: text.rsplit(" ", 1)[0] + " nonsense",
    ],
)
def test_an_owner_that_cannot_be_told_counts_as_living(left, tmp_path, dead, change):
    base = left(change(dead))
    assert sweep(tmp_path) == ()
    assert base.exists()


def test_links_and_files_of_that_name_are_left_alone(tmp_path, left, dead):
    base = left(dead)
    elsewhere = tmp_path / "elsewhere"
    base.rename(elsewhere)
    base.symlink_to(elsewhere)
    (tmp_path / "xeforge-child-file").write_text("")
    assert sweep(tmp_path) == ()
    assert elsewhere.exists()


def test_folders_of_other_users_are_left_alone(tmp_path, left, dead, monkeypatch):
    base = left(dead)
    monkeypatch.setattr("bench_workers.sandbox.sweep.os.geteuid", lambda: base.stat().st_uid + 1)
    assert sweep(tmp_path) == ()
    assert base.exists()


def test_a_folder_that_is_not_there_is_no_problem(tmp_path):
    assert sweep(tmp_path / "none") == ()
