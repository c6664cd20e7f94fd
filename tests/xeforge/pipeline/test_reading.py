"""Steps that read sources take turns."""

import threading
from types import SimpleNamespace

import pytest

from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Proposed
from xeforge.domain.events import Recorded
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.steps import Gate
from xeforge.domain.submission import SourceFile
from xeforge.pipeline import perform
from xeforge.pipeline.reading import READING


@pytest.fixture
def history():
    problem = Problem(SourceFile("k.py", "x = 1"), None, (), "nvidia-h200", "cuda")
    candidate = Candidate("t1", "t0", "fusion", "tests", "x = 2", "", {})
    event = Proposed("fusion", "tests", 0, (candidate,))
    return History("j", problem, (Recorded(0, "propose", 0.0, event),))


def test_no_gate_reads_while_another_thread_does(history, monkeypatch):
    began = threading.Event()
    monkeypatch.setattr(perform.gate, "gate", lambda *_: began.set() or ())
    parts = SimpleNamespace(device=None)
    step = Gate("t1")
    thread = threading.Thread(target=perform.perform, args=(history, step, parts))
    with READING:
        thread.start()
        assert not began.wait(0.2)
    thread.join(10)
    assert began.is_set()
