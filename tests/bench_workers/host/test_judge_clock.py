"""The judge's clock runs until every output is accounted for, and one of them is checked."""

from types import SimpleNamespace

import pytest

from bench_workers.host.judge_clock import JudgeClock
from bench_workers.host.judge_clock import JudgedTimes
from xeforge.ports import TimingPlan

OUTPUT = {
    "index": 0,
    "shape": [4],
    "expected_shape": [4],
    "dtype": "float32",
    "expected_dtype": "float32",
    "strides": [1],
    "expected_strides": [1],
    "device": "cuda:0",
    "wrong_count": 0,
    "unwritten_count": 0,
    "nan_count": 0,
    "expected_nan_count": 0,
    "first_wrong": None,
    "first_got": None,
    "first_expected": None,
    "max_abs_error": 0.0,
    "error": 0.0,
    "reference_error": None,
    "scale": 1.0,
}
WORKLOAD = SimpleNamespace(rtol=1e-3, atol=1e-5)


class Sides:
    """Two children that answer at once, and an oracle."""

    def __init__(self, *, digests=(10.0, 20.0, 30.0), wrong=0, said=None):
        self.asked = []
        self.digests = list(digests)
        self.wrong = wrong
        self.said = said

    def __call__(self, name, op, payload, *, factor=1.0):
        self.asked.append((name, op, dict(payload)))
        answers = {
            "time_batch": {"calls": 3},
            "time_go": {"digests": self.digests},
            "time_fetch": {"outputs": [{"offset": 0}]},
        }
        return answers[op]

    def ask(self, op, payload):
        self.asked.append(("oracle", op, dict(payload)))
        call = payload["sample_seed"] - payload["weights_seed"]
        digest = (10.0, 20.0, 30.0)[call] if self.said is None else self.said
        output = {**OUTPUT, "wrong_count": self.wrong}
        return {"outputs": [output], "output_count": 1, "digest": digest, "digest_scale": 40.0}


def run(sides, batches=3):
    plan = TimingPlan(seed=5, batches=batches)
    return JudgeClock(sides, sides, WORKLOAD, plan, {"name": "reference"}).run()


def test_both_sides_take_turns_on_the_same_fresh_inputs():
    sides = Sides()
    judged = run(sides)
    assert len(judged.first) == len(judged.second) == 3
    assert (judged.checked, judged.wrong) == (1, 0)
    seeds = [(name, asked["seed"]) for name, op, asked in sides.asked if op == "time_batch"]
    assert [name for name, _ in seeds] == ["first", "second", "second", "first", "first", "second"]
    assert len({seed for _, seed in seeds}) == 3
    assert [seeds[i][1] == seeds[i + 1][1] for i in (0, 2, 4)] == [True] * 3


def test_outputs_are_fetched_only_after_the_clock_has_stopped():
    sides = Sides()
    run(sides)
    operations = [(name, op) for name, op, _ in sides.asked]
    fetched = operations.index(("second", "time_fetch"))
    assert operations[fetched - 1] == ("second", "time_go")
    assert operations[fetched + 1] == ("oracle", "verify")
    assert operations.count(("second", "time_fetch")) == 1


@pytest.mark.parametrize(
    "sides", [Sides(wrong=1), Sides(said=99.0), Sides(digests=()), Sides(digests=(1.0, 2.0, 3.0))]
)
def test_outputs_that_were_not_there_in_time_are_wrong(sides):
    assert run(sides).wrong == 1


def test_rounding_of_the_sum_is_no_lie():
    assert run(Sides(digests=(10.000001, 20.000001, 30.000001))).wrong == 0


def test_a_plan_without_batches_asks_nothing():
    sides = Sides()
    assert run(sides, batches=0) == JudgedTimes()
    assert sides.asked == []
