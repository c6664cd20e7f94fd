"""What the driver starts beside what is under way."""

import threading

import pytest

from knowledge.load import find_device
from tests.conformance.job_store import PROBLEM
from tests.conformance.job_store import FakeClock
from tests.xeforge.app.scripted_bench import ScriptedBench
from xeforge.adapters.memory_store import MemoryStore
from xeforge.app.embedded import _startable
from xeforge.app.embedded import drive
from xeforge.domain.events import Resumed
from xeforge.domain.steps import Build
from xeforge.domain.steps import Confirm
from xeforge.domain.steps import Finish
from xeforge.domain.steps import Gate
from xeforge.domain.steps import Run
from xeforge.pipeline.parts import Parts


def test_builds_go_on_beside_a_run_but_no_second_run():
    ready = (Run("t2", "t0"), Build("t3"), Gate("t4"))
    assert _startable(ready, [Run("t1", "t0")]) == [Build("t3"), Gate("t4")]


def test_nothing_is_started_twice():
    assert _startable((Build("t1"), Build("t2")), [Build("t1")]) == [Build("t2")]


def test_a_job_ends_only_when_nothing_is_under_way():
    assert _startable((Finish("unchanged", None, ""),), [Build("t1")]) == []
    assert _startable((Confirm("t1"),), [Build("t2")]) == []
    assert _startable((Confirm("t1"),), []) == [Confirm("t1")]


class Interrupted(ScriptedBench):
    """Is asked something when the user interrupts, and then loses what it works with."""

    def __init__(self):
        super().__init__(lambda _: 1e-3)
        self.started, self.closed = threading.Event(), threading.Event()

    def describe(self, problem):
        self.started.set()
        assert self.closed.wait(60)
        return super().describe(problem)

    def close(self):
        self.closed.set()


def test_what_was_under_way_at_an_interrupt_is_not_recorded(monkeypatch):
    bench, store = Interrupted(), MemoryStore(FakeClock())

    def interrupt(*_arguments, **_options):
        assert bench.started.wait(60)
        raise KeyboardInterrupt

    store.create("j1", PROBLEM)
    parts = Parts(store, bench, None, {}, find_device("nvidia-h200"), FakeClock())
    with monkeypatch.context() as patch:
        patch.setattr("xeforge.app.embedded.wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            drive("j1", parts, lambda _: None, parallel=2)
    bench.close()
    for thread in threading.enumerate():
        if thread.name.startswith("step"):
            thread.join(60)
    assert store.history("j1").records == ()
    attempt = store.lease("j1", "describe", worker="later", seconds=30)
    assert len(store.record(attempt, Resumed()).records) == 1
