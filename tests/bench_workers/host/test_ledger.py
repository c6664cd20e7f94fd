"""Seconds are added up by role and operation, and what children say is kept within reason."""

from bench_workers.host.ledger import WAITING
from bench_workers.host.ledger import Ledger
from xeforge.domain.spending import OperationTime
from xeforge.domain.spending import Spending


def test_requests_of_one_kind_are_added_up_dearest_first() -> None:
    ledger = Ledger()
    ledger.add("run", "call", 1.0, {"compile": 0.5, "user": 0.25})
    ledger.add("oracle", "compare", 5.0)
    ledger.add("run", "call", 2.0, {"compile": 0.5})
    assert ledger.drain().operations == (
        OperationTime("oracle", "compare", 1, 5.0),
        OperationTime("run", "call", 2, 3.0, 1.0, 0.25),
    )
    assert ledger.drain().operations == ()


def test_a_child_cannot_claim_more_than_the_request_took() -> None:
    ledger = Ledger()
    ledger.add("run", "call", 1.0, {"compile": 99.0, "user": "lots"})
    ledger.add("run", "load", 1.0, {"compile": -5.0})
    spent = {each.operation: each for each in ledger.drain().operations}
    assert (spent["call"].compile_seconds, spent["call"].user_seconds) == (1.0, 0.0)
    assert spent["load"].compile_seconds == 0.0


def test_waiting_for_the_card_is_not_part_of_the_total() -> None:
    ledger = Ledger()
    ledger.add("host", WAITING, 1000.0)
    assert ledger.drain().total_seconds < 0


def test_overhead_is_what_is_left() -> None:
    spent = Spending(
        10.0,
        (
            OperationTime("run", "start", 2, 1.0),
            OperationTime("oracle", "start", 1, 0.5),
            OperationTime("run", "time_sample", 100, 2.0),
            OperationTime("run", "call", 13, 4.0, compile_seconds=3.0, user_seconds=0.5),
            OperationTime("oracle", "compare", 13, 0.25),
        ),
    )
    assert spent.import_seconds == 1.5
    assert spent.timed_seconds == 2.0
    assert spent.compile_seconds == 3.0
    assert spent.oracle_seconds == 0.25
    assert spent.harness_seconds == 3.5
