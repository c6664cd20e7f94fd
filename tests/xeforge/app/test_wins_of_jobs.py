"""Jobs with measured verdicts record what advice was worth; the next job heeds it."""

from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.load import find_device
from tests.conformance.job_store import FakeClock
from tests.xeforge.app.scripted_bench import ScriptedBench
from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.silent_advice import SilentAdvice
from xeforge.adapters.sql_store import SqlStore
from xeforge.app.advising import KnowledgeAdvice
from xeforge.app.request import to_problem
from xeforge.domain.advice import AdviceQuestion
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.history import History
from xeforge.domain.steps import Plan
from xeforge.domain.steps import Step
from xeforge.domain.wins import WinRecord
from xeforge.errors import StoreConflict
from xeforge.pipeline.advance import advance
from xeforge.pipeline.engine import ready_steps
from xeforge.pipeline.parts import Parts
from xeforge.propose import PROPOSERS

EXAMPLES = Path(__file__).parents[3] / "examples"
WHOLE, EVEN = "algorithm.whole_row_in_registers", "memory.even_sizes_without_masks"


def seconds(source: str) -> float:
    """Whole rows cost a fifth here, and unmasked accesses save a third."""
    return 1e-3 * (1.2 if "WHOLE_ROW" in source else 1.0) * (0.67 if "EVEN_" in source else 1.0)


@pytest.fixture
def problem():
    path = EXAMPLES / "layer_norm.py"
    read = to_problem(
        path,
        spec=path.with_suffix(".yaml"),
        reference=None,
        variants=None,
        device="cpu",
        target="nvidia-h200",
    )
    return replace(read, backend="cuda", stages=("memory_access",))


@pytest.fixture(params=["memory", "sql"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryStore(FakeClock())
        return
    store = SqlStore(tmp_path / "jobs.sqlite3", FakeClock())
    yield store
    store.close()


def parts_of(store, advice=None) -> Parts:
    return Parts(
        store=store,
        evaluator=ScriptedBench(seconds),
        interpreter=None,
        proposers={each.name: each for each in PROPOSERS},
        device=find_device("nvidia-h200"),
        clock=FakeClock(),
        advice=advice or KnowledgeAdvice(),
    )


def go_on(job: str, parts: Parts, *, until: type[Step] | None = None) -> History:
    """Perform steps one by one; stop after one of a kind."""
    history = parts.store.history(job)
    while steps := ready_steps(history):
        history = advance(history, steps[0], parts, worker="w")
        if until is not None and isinstance(steps[0], until):
            break
    return history


def run(job: str, problem, parts: Parts) -> History:
    parts.store.create(job, problem)
    return go_on(job, parts)


def singles(history: History) -> list[str]:
    """Return the advice behind the first batch, rewrites that stand alone, in order."""
    first = next(history.of(Proposed))
    return [each.recipes[0] for each in first.candidates if len(each.recipes) == 1]


def test_wins_are_counted_and_change_the_order_of_the_next_job(store, problem):
    parts = parts_of(store)
    orders = [singles(run(f"j{number}", problem, parts)) for number in (1, 2, 3)]
    assert orders == [[WHOLE, EVEN], [EVEN, WHOLE], [EVEN, WHOLE]]
    # Whole rows lose against the submitted kernel in the first job alone, and then once in each
    # job against the winner, which is their parent there.
    assert store.wins() == {"nvidia-h200": {WHOLE: WinRecord(4, 0), EVEN: WinRecord(3, 3)}}


def test_the_next_job_is_told_how_often_advice_paid(store, problem):
    run("j1", problem, parts_of(store))
    told = store.wins()["nvidia-h200"]
    answer = KnowledgeAdvice().advise(
        AdviceQuestion(
            problem.kernel,
            find_device("nvidia-h200"),
            problem.workloads,
            only=frozenset({WHOLE, EVEN}),
            wins=told,
        )
    )
    assert [each.id for each in answer.recipes] == [EVEN, WHOLE]
    assert answer.recipes[0].because.endswith("won 1 of 1 on nvidia-h200")
    assert answer.recipes[1].because.endswith("won 0 of 2 on nvidia-h200")


def test_a_job_ends_with_the_winner_that_its_times_say(store, problem):
    history = run("j1", problem, parts_of(store))
    assert history.finished.outcome is JobOutcome.IMPROVED
    assert history.candidate(history.finished.winner).recipes == (EVEN,)
    assert {each.grade for each in (t.verdict for t in history.trials())} == {"measured"}
    combined = [each for each in history.candidates() if len(each.recipes) == 2]
    assert [each.recipes for each in combined] == [(WHOLE, EVEN)]


def test_a_job_keeps_the_record_with_which_it_began(store, problem):
    """Resumed after other jobs have won and lost, it proposes what it would have proposed."""
    for number in (1, 2):
        run(f"j{number}", problem, parts_of(store))
    store.create("old", problem)
    go_on("old", parts_of(store), until=Plan)
    before = store.wins()
    run("j3", problem, parts_of(store))
    run("j4", problem, parts_of(store))
    assert store.wins() != before
    resumed = go_on("old", parts_of(store))
    assert dict(resumed.first(Planned).wins) == before["nvidia-h200"]
    assert singles(resumed) == [EVEN, WHOLE]
    fresh = store.history("j3")
    assert [each.source for each in resumed.candidates()] == [
        each.source for each in fresh.candidates()
    ]
    assert resumed.finished.winner == fresh.finished.winner


def test_an_old_order_survives_what_others_record_meanwhile(store, problem):
    store.create("old", problem)
    go_on("old", parts_of(store), until=Plan)
    for number in (1, 2, 3):
        run(f"j{number}", problem, parts_of(store))
    assert singles(store.history("j3")) == [EVEN, WHOLE]
    assert singles(go_on("old", parts_of(store))) == [WHOLE, EVEN]


def test_a_step_that_is_done_again_counts_once(store, problem):
    parts = parts_of(store)
    history = run("j1", problem, parts)
    counted = store.wins()
    for step in ready_steps(History("j1", problem)):
        with pytest.raises(StoreConflict):
            advance(store.history("j1"), step, parts, worker="w")
    judged = [each.step for each in history.records if each.step.startswith("judge:")]
    for step in judged:
        with pytest.raises(StoreConflict):
            store.lease("j1", step, worker="w", seconds=1)
    assert store.wins() == counted


def test_without_advice_the_old_order_stays_and_all_is_counted_the_same(store, problem):
    for number in (1, 2, 3):
        history = run(f"j{number}", problem, parts_of(store, SilentAdvice()))
        assert singles(history) == [WHOLE, EVEN]
    assert store.wins()["nvidia-h200"][EVEN] == WinRecord(3, 3)


def test_wins_on_another_device_move_nothing_here(store, problem):
    for number in (1, 2):
        run(f"j{number}", problem, parts_of(store))
    other = replace(problem, target="nvidia-a100")
    parts = replace(parts_of(store), device=find_device("nvidia-a100"))
    history = run("other", other, parts)
    assert history.first(Planned).wins == {}
    assert singles(history) == [WHOLE, EVEN]
