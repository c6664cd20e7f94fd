"""After a fault the card is probed before its next job; nothing else is."""

import pytest

from bench_workers.host.health import CardHealth
from bench_workers.host.ledger import Ledger
from bench_workers.host.sessions import Session
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout
from xeforge.errors import DeviceLost
from xeforge.errors import PlatformError

FAULT = {"fault": {"kind": "RuntimeError", "message": "illegal memory access", "broken": True}}


class Probe:
    """Answers in place of a fresh child, one answer after the other."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Child:
    """Answers every request alike."""

    role = "run"
    stderr_tail = ""

    def __init__(self, answer):
        self.answer = answer
        self.is_alive = True

    def request(self, op, payload, *, deadline_seconds):
        if isinstance(self.answer, Exception):
            raise self.answer
        return dict(self.answer)

    def close(self):
        self.is_alive = False


def test_a_card_nobody_suspects_is_not_probed():
    health = CardHealth(Probe())
    health.settle()
    assert not health.is_suspected


def test_a_probe_that_passes_clears_the_suspicion_once():
    probe = Probe("")
    health = CardHealth(probe)
    health.suspect("illegal memory access")
    health.settle()
    health.settle()
    assert probe.answers == []
    assert not health.is_suspected


@pytest.mark.parametrize(
    "answer",
    [
        "3 of 10 known values came back wrong",
        CandidateTimeout("no answer within 120 s"),
        PlatformError("no child"),
    ],
)
def test_a_probe_that_fails_is_the_cards_fault_and_is_repeated(answer):
    health = CardHealth(Probe(answer, ""))
    health.suspect("illegal memory access")
    with pytest.raises(DeviceLost, match=r"illegal memory access.*fails a probe"):
        health.settle()
    assert health.is_suspected
    health.settle()
    assert not health.is_suspected


def test_where_there_is_no_card_nothing_is_suspected():
    health = CardHealth(None)
    health.suspect("died")
    health.settle()
    assert not health.is_suspected


@pytest.mark.parametrize("answer", [FAULT, CandidateTimeout("late"), CandidateDied("gone")])
def test_sticky_errors_hangs_and_deaths_make_the_card_suspect(answer):
    health = CardHealth(Probe())
    session = Session(Child(answer), (None,), Ledger(), health)
    with pytest.raises((CandidateRaised, CandidateTimeout, CandidateDied)):
        session.ask("call", {}, seconds=1.0)
    assert health.is_suspected


def test_what_the_code_raises_by_itself_makes_nothing_suspect():
    health = CardHealth(Probe())
    plain = {"fault": {"kind": "ValueError", "message": "not today", "broken": False}}
    session = Session(Child(plain), (None,), Ledger(), health)
    with pytest.raises(CandidateRaised):
        session.ask("call", {}, seconds=1.0)
    assert not health.is_suspected
    assert session.is_alive


def test_a_fresh_child_does_the_known_work(evaluator):
    sessions = evaluator._sessions
    assert sessions._probe() == ""
    probed = CardHealth(sessions._probe)
    probed.suspect("died")
    probed.settle()
    assert not probed.is_suspected


def test_the_probe_comes_before_the_next_child_on_the_card(evaluator, monkeypatch):
    sessions, order = evaluator._sessions, []

    def probe():
        order.append("probe")
        return ""

    monkeypatch.setattr(sessions, "health", CardHealth(probe))
    monkeypatch.setattr(sessions, "_started", lambda role, *_: order.append(role))
    sessions.start("run")
    sessions.health.suspect("illegal memory access")
    sessions.start("prepare")
    sessions.start("oracle")
    sessions.start("run")
    assert order == ["run", "prepare", "probe", "oracle", "run"]


def test_no_child_is_started_on_a_card_that_fails_its_probe(evaluator, monkeypatch):
    sessions, started = evaluator._sessions, []
    monkeypatch.setattr(sessions, "health", CardHealth(Probe("wrong values", "wrong values")))
    monkeypatch.setattr(sessions, "_started", lambda role, *_: started.append(role))
    sessions.health.suspect("illegal memory access")
    for _ in range(2):
        with pytest.raises(DeviceLost):
            sessions.start("run")
    assert started == []
