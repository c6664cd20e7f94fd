import time
from dataclasses import replace

import pytest

from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.spares import PRELOAD
from bench_workers.sandbox.spares import Spares
from tests.conformance.sandbox import carriers
from tests.conformance.sandbox import token_of
from xeforge.errors import PlatformError


@pytest.fixture
def policy():
    return default_policy("cpu", layer=best_layer(), threads=1)


@pytest.fixture
def light(policy):
    """Spare children that load nothing."""
    spares = Spares(policy, count=1, options={"preload": []}, parallel=1)
    yield spares
    spares.close()


def warm(spares):
    for future in tuple(spares._waiting):
        future.result(timeout=60)


def test_a_warm_child_is_there_at_once_with_the_libraries_and_no_device_context(policy):
    spares = Spares(policy, count=1, parallel=1)
    try:
        warm(spares)
        began = time.monotonic()
        child = spares.take("echo")
        assert time.monotonic() - began < 0.5  # about 4 ms on an idle machine
        assert set(child.versions) == set(PRELOAD)
        source = "import sys, torch\nanswer['is_there'] = torch.cuda.is_initialized()"
        found = child.request("run", {"source": source}, deadline_seconds=20)
        assert found == {"is_there": False}
        child.close()
    finally:
        spares.close()


def test_each_take_gives_another_child(light):
    first, second = light.take("echo"), light.take("echo")
    assert first.pid != second.pid
    assert first.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
    first.close()
    second.close()


def test_children_outlive_the_thread_that_warmed_them(policy):
    with_two = Spares(policy, count=1, options={"preload": []}, parallel=1)
    child = with_two.take("echo")
    with_two.close()
    assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
    child.close()


def test_a_spare_that_died_meanwhile_is_passed_over(light):
    warm(light)
    dead = light._waiting[0].result()
    dead.kill()
    child = light.take("echo")
    assert child.pid != dead.pid
    assert not dead.directory.exists()
    child.close()


def test_what_went_wrong_while_warming_shows_when_one_is_taken(policy):
    spares = Spares(policy, count=1, options={"preload": ["no_such_module"]})
    with pytest.raises(PlatformError, match="no_such_module"):
        spares.take("echo")
    spares.close()


def test_a_role_that_cannot_be_taken_is_told_and_leaves_nothing(light):
    warm(light)
    token = token_of(light._waiting[0].result())
    with pytest.raises(PlatformError, match="can take the role 'dance'"):
        light.take("dance")
    assert carriers(token) == []


def test_close_ends_all_and_does_not_wait_for_those_still_warming(policy, tmp_path):
    (tmp_path / "slow.py").write_text("import threading\nthreading.Event().wait(600)\n")
    options = {"preload": ["slow"], "paths": [str(tmp_path)]}
    shown = replace(policy, readable=(*policy.readable, tmp_path))
    spares = Spares(shown, count=2, options=options, parallel=1)
    while not spares._warming:
        time.monotonic()
    (child,) = spares._warming
    began = time.monotonic()
    spares.close()
    assert time.monotonic() - began < 10
    assert carriers(token_of(child)) == []
    with pytest.raises(PlatformError, match="are closed"):
        spares.take("echo")
    spares.close()
