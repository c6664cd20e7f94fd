import gc
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bench_workers.sandbox.forked import ZygoteGone
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.spares import PRELOAD
from bench_workers.sandbox.zygote import Zygote
from tests.conformance.sandbox import carriers
from tests.conformance.sandbox import lines
from tests.conformance.sandbox import token_of
from xeforge.errors import CandidateDied
from xeforge.errors import PlatformError

ORPHAN = """
import os, pathlib, sys
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.spares import PRELOAD
from bench_workers.sandbox.zygote import Zygote
policy = default_policy("cpu", layer=sys.argv[1], work_directory=pathlib.Path(sys.argv[2]))
form = standing(policy.layer)
zygote = Zygote(policy, form.module, uid=form.uid)
children = [zygote.take("echo") for _ in range(2)]
print(zygote._running._place.token, *(child._family._token.decode() for child in children))
sys.stdout.flush()
"""


@pytest.fixture(scope="module")
def policy():
    return default_policy("cpu", layer=best_layer(), threads=2)


@pytest.fixture(scope="module")
def make(policy):
    """Make zygotes that load nothing; keywords change policy or options."""
    made = []

    def begin(changes=None, **options):
        form = standing(policy.layer)
        changed = replace(policy, **(changes or {}))
        zygote = Zygote(changed, form.module, uid=form.uid, options={"preload": [], **options})
        made.append(zygote)
        return zygote

    yield begin
    for zygote in made:
        zygote.close()


@pytest.fixture(scope="module")
def light(make):
    return make()


@pytest.fixture(scope="module")
def loaded(make):
    """A zygote with torch in it."""
    return make(preload=["torch", "numpy.random"])


def process_of(zygote):
    """Return the number of the zygote proper, inside its wrappers."""
    members = zygote._running._family.members(is_thorough=True)
    token = zygote._running._place.token.encode()
    return max(
        member.pid
        for member in members
        if token in Path(f"/proc/{member.pid}/environ").read_bytes()
        and b"main.py\0zygote" in Path(f"/proc/{member.pid}/cmdline").read_bytes()
    )


def wait_until_gone(token):
    pause = threading.Event()
    for _ in range(500):
        if not carriers(token):
            return
        pause.wait(0.01)
    raise AssertionError(carriers(token))


def test_a_child_is_there_at_once(light):
    light.take("echo").close()
    began = time.monotonic()
    with light.take("echo") as child:
        assert time.monotonic() - began < 0.5  # about 20 ms on an idle machine
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}


def test_torch_works_after_the_fork_with_several_threads_and_no_device_context(loaded):
    source = (
        "import os, torch\n"
        "answer['is_there'] = torch.cuda.is_initialized()\n"
        "answer['before'] = len(os.listdir('/proc/self/task'))\n"
        "torch.set_num_threads(4)\n"
        "a = torch.ones(700, 700)\n"
        "answer['sum'] = float((a @ a).sum())\n"
        "answer['after'] = len(os.listdir('/proc/self/task'))\n"
    )
    with loaded.take("echo") as child:
        assert "torch" in child.versions
        found = lines(child, source)
    assert found.pop("after") >= 4
    assert found == {"is_there": False, "before": 1, "sum": 700.0**3}


def test_what_a_child_does_to_torch_stays_its_own(loaded):
    spoil = (
        "import torch\n"
        "torch.allclose = lambda *_, **__: True\n"
        "torch.Tensor.__eq__ = None\n"
        "torch.set_default_dtype(torch.float64)\n"
        "torch.manual_seed(7)\n"
    )
    look = (
        "import torch\n"
        "answer['close'] = torch.allclose(torch.zeros(1), torch.ones(1))\n"
        "answer['dtype'] = str(torch.zeros(1).dtype)\n"
        "answer['equal'] = bool((torch.zeros(1) == torch.zeros(1)).item())\n"
        "answer['seed'] = torch.initial_seed() == 7\n"
    )
    with loaded.take("echo") as child:
        lines(child, spoil)
    with loaded.take("echo") as child:
        expected = {"close": False, "dtype": "torch.float32", "equal": True, "seed": False}
        assert lines(child, look) == expected


def test_numpy_draws_other_numbers_in_each_child(loaded):
    source = "import numpy\nanswer['drawn'] = numpy.random.random()"
    with loaded.take("echo") as first, loaded.take("echo") as second:
        assert lines(first, source) != lines(second, source)


def test_descriptors_of_a_take_are_its_own(light):
    shared = os.memfd_create("one")
    os.write(shared, b"hello")
    source = "import os\nanswer['text'] = os.pread(payload['fd'], 5, 0).decode()"
    with light.take("echo", inherit=(shared,)) as child:
        assert lines(child, source, fd=shared) == {"text": "hello"}
    os.close(shared)


def test_a_dead_zygote_is_replaced_and_its_children_are_not_blamed(make):
    zygote = make()
    child = zygote.take("echo")
    old = zygote._running
    os.kill(process_of(zygote), 9)
    wait_until_gone(token_of(child))
    for _ in range(2):
        with pytest.raises(PlatformError, match="together with the process that had made it"):
            child.request("echo", {}, deadline_seconds=10)
    assert carriers(token_of(child)) == []
    with zygote.take("echo") as other:
        assert other.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
    child.close()
    assert zygote._running is not old
    assert not old._place.directory.exists()


def test_a_zygote_that_dies_again_and_again_is_a_fault_of_the_platform(make, monkeypatch):
    zygote = make()
    zygote.take("echo").close()

    def refuse(*_, **__):
        raise ZygoteGone("the zygote has ended")

    monkeypatch.setattr(type(zygote._running), "fork", refuse)
    with pytest.raises(PlatformError, match="the zygote has ended"):
        zygote.take("echo")


def test_what_went_wrong_while_warming_shows_when_one_is_taken(make):
    zygote = make(preload=["no_such_module"])
    with pytest.raises(PlatformError, match="no_such_module"):
        zygote.take("echo")


@pytest.mark.parametrize(
    ("lines_of_module", "words"),
    [
        (
            "from threading import Event, Thread\nThread(target=Event().wait, daemon=True).start()",
            r"has 2 threads \(\w+, \w+\), so it cannot fork",
        ),
        ("kept = open('/dev/full')", "holds /dev/full open, so it cannot fork"),
    ],
)
def test_a_zygote_in_which_a_module_left_something_running_does_not_fork(
    make, tmp_path, policy, lines_of_module, words
):
    (tmp_path / "leaves_something.py").write_text(lines_of_module)
    readable = {"readable": (*policy.readable, tmp_path)}
    zygote = make(readable, preload=["leaves_something"], paths=[str(tmp_path)])
    with pytest.raises(PlatformError, match=words):
        zygote.take("echo")


def test_a_role_that_cannot_be_taken_is_told_and_leaves_nothing(light):
    with pytest.raises(PlatformError, match="can take the role 'dance'"):
        light.take("dance")
    assert list(light._running._place.children.iterdir()) == []


def test_it_outlives_its_closing_until_the_last_child_has_ended(make):
    zygote = make()
    child = zygote.take("echo")
    place = zygote._running._place
    zygote.close()
    zygote.close()
    assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
    assert carriers(place.token)
    with pytest.raises(PlatformError, match="is closed"):
        zygote.take("echo")
    child.close()
    assert carriers(place.token) == []
    assert not place.directory.parent.exists()


def test_closing_does_not_wait_for_imports_and_wakes_who_waits(make, policy, tmp_path):
    (tmp_path / "slow.py").write_text("import threading\nthreading.Event().wait(600)\n")
    readable = {"readable": (*policy.readable, tmp_path)}
    zygote = make(readable, preload=["slow"], paths=[str(tmp_path)])
    token = zygote._running._place.token
    told = []

    def take():
        try:
            zygote.take("echo")
        except PlatformError as error:
            told.append(error.message)

    waiting = threading.Thread(target=take)
    waiting.start()
    pause = threading.Event()
    while not zygote._running._lock.locked():
        pause.wait(0.01)
    began = time.monotonic()
    zygote.close()
    waiting.join()
    assert time.monotonic() - began < 10
    assert carriers(token) == []
    assert "did not start" in told[0]


def test_one_that_is_forgotten_is_ended(make, policy):
    form = standing(policy.layer)
    zygote = Zygote(policy, form.module, uid=form.uid)
    zygote.take("echo").close()
    token = zygote._running._place.token
    del zygote
    gc.collect()
    assert carriers(token) == []


def test_the_host_holds_nothing_of_a_closed_child(light):
    def count():
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    light.take("echo").close()
    before = count()
    for _ in range(3):
        light.take("echo").close()
    assert count() == before
    assert list(light._running._place.children.iterdir()) == []


def test_children_can_be_taken_from_several_threads(light):
    taken = []
    threads = [threading.Thread(target=lambda: taken.append(light.take("echo"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({child.pid for child in taken}) == 4
    for child in taken:
        assert child.request("echo", {"a": child.pid}, deadline_seconds=10) == {"a": child.pid}
        child.close()


def test_an_end_by_a_limit_is_told_as_for_a_started_child(make):
    zygote = make({"memory_bytes": 200 << 20})
    with zygote.take("echo") as child, pytest.raises(CandidateDied, match="memory limit of 200"):
        lines(child, "kept = []\nwhile True: kept.append(b'x' * (1 << 20))")


@pytest.mark.parametrize("layer", ["bubblewrap", "unshare", "bare"])
def test_nothing_outlives_the_process_that_asked_for_it(layer, tmp_path):
    script = ORPHAN + "os.kill(os.getpid(), 9)\n"
    command = [sys.executable, "-c", script, layer, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tokens = done.stdout.split()
    assert len(tokens) == 3, done.stderr
    for token in tokens:
        wait_until_gone(token)


def test_no_folder_is_left_when_the_process_ends_without_closing(policy, tmp_path):
    command = [sys.executable, "-c", ORPHAN, policy.layer, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for token in done.stdout.split():
        assert carriers(token) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.gpu
def test_a_device_can_be_opened_after_the_fork(policy):
    cuda = default_policy("cuda", layer=policy.layer)
    form = standing(policy.layer)
    zygote = Zygote(cuda, form.module, uid=form.uid, options={"preload": list(PRELOAD)})
    source = (
        "import torch\n"
        "answer['before'] = torch.cuda.is_initialized()\n"
        "answer['sum'] = float(torch.ones(1000, device='cuda').sum())\n"
    )
    for _ in range(2):
        with zygote.take("echo") as child:
            assert lines(child, source, seconds=120) == {"before": False, "sum": 1000.0}
    zygote.close()
