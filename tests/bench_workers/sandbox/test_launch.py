import gc
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bench_workers.sandbox.children import how_it_ended
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy
from tests.conformance.sandbox import carriers
from tests.conformance.sandbox import token_of
from xeforge.errors import OutOfHostResources
from xeforge.errors import PlatformError

ORPHAN = """
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.policy import default_policy
import os, pathlib, sys
folder = pathlib.Path(sys.argv[2])
child = launch("echo", default_policy("cpu", layer=sys.argv[1], work_directory=folder))
print(child._family._token.decode(), child.directory, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def policy():
    return default_policy("cpu", layer=best_layer())


def test_a_child_outlives_the_thread_that_asked_for_it(policy):
    box = []
    thread = threading.Thread(target=lambda: box.append(launch("echo", policy)))
    thread.start()
    thread.join()
    with box[0] as child:
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}


@pytest.mark.parametrize("layer", ["bubblewrap", "unshare", "bare"])
def test_no_child_outlives_the_process_that_asked_for_it(layer, tmp_path):
    command = [sys.executable, "-c", ORPHAN, layer, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    token = done.stdout.split()[0]
    pause = threading.Event()
    for _ in range(500):
        if not carriers(token):
            break
        pause.wait(0.01)
    assert carriers(token) == []


def test_a_child_that_is_forgotten_is_ended_and_its_folder_removed(policy):
    child = launch("echo", policy)
    token, folder = token_of(child), child.directory.parent
    del child
    gc.collect()
    assert carriers(token) == []
    assert not folder.exists()


def test_no_folder_is_left_when_the_process_ends_without_closing(policy, tmp_path):
    script = ORPHAN.replace("os.kill(os.getpid(), 9)", "")
    command = [sys.executable, "-c", script, policy.layer, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert carriers(done.stdout.split()[0]) == []
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_where_the_policy_says(policy, tmp_path):
    with launch("echo", replace(policy, work_directory=tmp_path)) as child:
        assert child.directory.is_relative_to(tmp_path)
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(policy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutOfHostResources, match="no private folder"):
        launch("echo", replace(policy, work_directory=tmp_path / "file"))


def test_a_missing_interpreter_is_told(policy, tmp_path):
    broken = replace(policy, python=tmp_path / "python")
    with pytest.raises(PlatformError, match="did not start"):
        launch("echo", replace(broken, work_directory=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_host_holds_no_descriptor_of_a_closed_child(policy):
    def count():
        return len(list(Path("/proc/self/fd").iterdir()))

    launch("echo", policy).close()
    before = count()
    for _ in range(3):
        launch("echo", policy).close()
    assert count() == before


def test_several_children_run_at_once_and_know_nothing_of_each_other(policy):
    with launch("echo", policy) as first, launch("echo", policy) as second:
        source = "import os\nanswer['files'] = os.listdir('.')\nopen('mine', 'w').close()"
        for child in (first, second):
            found = child.request("run", {"source": source}, deadline_seconds=10)
            assert found == {"files": []}
        first.close()
        assert carriers(token_of(first)) == []
        assert second.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "ended by itself with exit status 0"),
        (1, "ended by itself with exit status 1"),
        (-11, "killed by SIGSEGV"),
        (139, "killed by SIGSEGV"),
        (137, "killed by SIGKILL"),
        (255, "ended by itself with exit status 255"),
    ],
)
def test_exit_statuses_are_put_in_words(status, words):
    assert how_it_ended(status) == words
