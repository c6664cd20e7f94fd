"""Answers of proposers become events: numbered, without repeats, with what was left out."""

from dataclasses import replace

import pytest

from xeforge.domain.events import Analyzed
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Recorded
from xeforge.domain.events import Skipped
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.steps import Propose
from xeforge.domain.submission import SourceFile
from xeforge.domain.wins import WinRecord
from xeforge.pipeline.asking import ask
from xeforge.pipeline.parts import Parts
from xeforge.ports import Batch
from xeforge.ports import Proposal

WINS = {"x.a": WinRecord(3, 1)}
MASKS = Skipped("drop_masks", ("x.b",), "does not apply")
ROWS = Skipped("whole_rows", ("x.c",), "does not apply")
STEP = Propose("fusion", "scripted", 0, "t0", 4)


class Scripted:
    """Answers what it is told to; remembers what it was asked."""

    name = "scripted"

    def __init__(self, answer):
        self.answer = answer
        self.asked = None

    def propose(self, assignment):
        self.asked = assignment
        return self.answer


class Bench:
    is_interpreted = False


@pytest.fixture
def history():
    problem = Problem(SourceFile("kernel.py", "x = 1"), None, (), "nvidia-h200", "cuda")
    return grown(History("j", problem), Analyzed(()), Planned(("fusion",), (), WINS))


def grown(history, *events):
    first = len(history.records)
    records = tuple(Recorded(n, f"s{n}", float(n), e) for n, e in enumerate(events, first))
    return replace(history, records=(*history.records, *records))


def parts(proposer, advice=None):
    return Parts(None, Bench(), None, {"scripted": proposer}, None, None, advice=advice)


def test_proposals_keep_the_advice_that_they_carry_out(history):
    proposer = Scripted(Batch((Proposal("x = 2", "", {}, recipes=("x.a",)),)))
    event = ask(history, STEP, parts(proposer))
    assert [each.recipes for each in event.candidates] == [("x.a",)]
    plain = Scripted((Proposal("x = 3", "", {}),))
    assert [each.recipes for each in ask(history, STEP, parts(plain)).candidates] == [()]


def test_what_was_left_out_is_said_once_for_each_stage(history):
    proposer = Scripted(Batch((), (MASKS,)))
    first = ask(history, STEP, parts(proposer))
    assert first.skipped == (MASKS,)
    proposer.answer = Batch((), (MASKS, ROWS))
    later = replace(STEP, round=1)
    assert ask(grown(history, first), later, parts(proposer)).skipped == (ROWS,)
    elsewhere = Proposed("memory_access", "scripted", 0, (), skipped=(MASKS,))
    assert ask(grown(history, elsewhere), STEP, parts(proposer)).skipped == (MASKS, ROWS)


def test_proposers_get_advice_and_the_record_with_which_the_job_began(history):
    advice, proposer = object(), Scripted(())
    ask(history, STEP, parts(proposer, advice))
    assert proposer.asked.advice is advice
    assert proposer.asked.wins == WINS
