"""The benchmark's own arithmetic, and its road from a request to a table, without a device."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.submitted import run
from benchmarks.submitted import search
from benchmarks.submitted.ceilings import Ceilings
from benchmarks.submitted.clock import HostClock
from benchmarks.submitted.clock import alternate
from benchmarks.submitted.modules import draw
from benchmarks.submitted.modules import wrong_elements
from benchmarks.submitted.summary import Workout
from benchmarks.submitted.summary import ratio
from benchmarks.submitted.summary import summarise
from benchmarks.submitted.table import render
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload

ROOT = Path(__file__).parents[2]


class ScriptedClock:
    """Says that every side takes as long as its name tells, and remembers the order."""

    def __init__(self):
        self.order = []

    def sample(self, call, inputs, host_seconds):
        name, seconds = call.told
        self.order.append(name)
        return lambda: seconds

    def settle(self):
        pass


def told(name, seconds):
    def call(*_):
        return None

    call.told = (name, seconds)
    return call


def test_sides_are_timed_in_turn_and_no_side_always_follows_another():
    clock = ScriptedClock()
    sides = {name: told(name, seconds) for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 4.0))}
    times = alternate(clock, sides, lambda _: [], rounds=6, seconds=60.0)
    assert times == {"a": [1.0] * 6, "b": [2.0] * 6, "c": [4.0] * 6}
    rounds = [clock.order[index : index + 3] for index in range(0, 18, 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert {each[0] for each in rounds} == {"a", "b", "c"}


def test_a_fifth_of_the_rounds_is_made_even_when_the_time_is_up():
    times = alternate(ScriptedClock(), {"a": told("a", 1.0)}, lambda _: [], rounds=20, seconds=0.0)
    assert len(times["a"]) == 4


def test_the_host_clock_times_the_call():
    calls = []
    read = HostClock().sample(lambda *inputs: calls.append(inputs), (1, 2), 0.0)
    assert calls == [(1, 2)]
    assert 0 <= read() < 10


def test_a_ratio_is_paired_and_its_interval_holds_it():
    first = [2.0, 4.0, 6.0, 8.0] * 5
    found = ratio(first, [each / 2 for each in first])
    assert found == pytest.approx({"estimate": 2.0, "low": 2.0, "high": 2.0})
    noisy = ratio([1.0, 1.1, 0.9, 1.05] * 6, [0.5, 0.52, 0.48, 0.5] * 6)
    assert noisy["low"] <= noisy["estimate"] <= noisy["high"]
    assert noisy["low"] > 1.5


def test_the_floor_is_the_larger_of_arithmetic_and_traffic():
    limits = Ceilings(4e12, {"float16": 800e12})
    assert limits.floor_seconds(flops=8e12, moved_bytes=4e9, dtype="float16") == (0.01, "matrix")
    assert limits.floor_seconds(flops=8e9, moved_bytes=4e9, dtype="float16") == (0.001, "memory")
    assert limits.floor_seconds(flops=8e9, moved_bytes=None, dtype="int8") == (0.0, "memory")


def test_elements_outside_the_tolerance_are_counted():
    wanted = (torch.tensor([1.0, 100.0, float("nan"), 0.0]).double(),)
    got = torch.tensor([1.005, 102.0, float("nan"), float("nan")])
    count, largest = wrong_elements(got, wanted, rtol=1e-2, atol=0.0)
    assert count == 2
    assert largest == pytest.approx(2.0)
    with pytest.raises(ValueError, match="where the reference has"):
        wrong_elements(got[:2], wanted, rtol=1e-2, atol=0.0)


def test_inputs_are_fresh_for_each_seed_and_respect_ranges():
    workload = Workload(
        name="w",
        variant="w",
        inputs=(
            TensorSpec("X", (3, 5), "float16"),
            TensorSpec("I", (64,), "int64", range=(2, 5)),
            TensorSpec("U", (64,), "float32", range=(0.5, 1.5)),
        ),
        init_args=None,
        dtype=None,
        dims={},
    )
    one, other = draw(workload, "cpu", 1), draw(workload, "cpu", 2)
    assert not torch.equal(one[0], other[0])
    assert one[0].dtype == torch.float16
    assert set(one[1].tolist()) == {2, 3, 4}
    assert 0.5 <= float(one[2].min()) <= float(one[2].max()) <= 1.5
    assert torch.equal(one[2], draw(workload, "cpu", 1)[2])


def summary(**times):
    checks = dict.fromkeys(times, (0, 1e-3))
    workout = Workout("bench-gpu[0]", "M=4, N=8", "float16", 1e-6, "memory")
    return summarise(workout, times, checks, {"eager": "OutOfMemoryError: no room"})


def test_the_table_shows_speed_ceiling_and_rivals():
    measured = summary(
        submitted=[8e-6] * 10,
        found=[2e-6] * 10,
        compiled=[3e-6] * 10,
        **{"sdpa flash": [1e-6] * 10},
    )
    record = {
        "kernels": {
            "good": {"measured": {"workloads": [measured]}},
            "bad": {"measured": None, "failure": "measuring ended with code 1: boom"},
        }
    }
    text = render(record)
    row = next(line for line in text.splitlines() if line.startswith("| good"))
    for part in (
        "M=4, N=8 float16",
        "8.0",
        "4.00 (4.00-4.00)",
        "50% memory",
        "1.50",
        "0.50",
        "yes",
    ):
        assert part in row
    assert "measuring ended with code 1: boom" in text
    assert "eager: OutOfMemoryError: no room" in text


def test_a_wrong_result_is_shown_as_not_verified():
    workout = Workout("w", "M=1", "float32", 0.0, "memory")
    wrong = summarise(workout, {"found": [1e-6] * 4}, {"found": (3, 1.0)}, {})
    assert wrong["sides"]["found"]["is_verified"] is False
    assert "| NO " in render({"kernels": {"k": {"measured": {"workloads": [wrong]}}}})


def test_a_side_without_times_is_shown_as_failed():
    workout = Workout("w", "M=1", "float32", 0.0, "memory")
    lost = summarise(workout, {"submitted": [1e-6] * 4}, {"submitted": (0, 0.0)}, {"found": "x"})
    assert "speedup" not in lost
    assert "failed" in render({"kernels": {"k": {"measured": {"workloads": [lost]}}}})


def test_unknown_examples_are_named():
    with pytest.raises(SystemExit, match=r"unknown example nonsense; there are .*softmax_rows"):
        search.examples(ROOT / "examples", ("nonsense",))


def test_a_winner_counts_only_with_its_certificate(tmp_path):
    (tmp_path / "winner.py").write_text("", encoding="utf-8")
    (tmp_path / "report.json").write_text(
        json.dumps(
            {
                "headline": "2x faster",
                "trials": [{"harness_seconds": 0.5}, {"harness_seconds": None}],
            }
        ),
        encoding="utf-8",
    )
    found = search.earlier(tmp_path)
    assert (found.winner, found.headline, found.trials) == (None, "2x faster", 2)
    assert found.harness_seconds == (0.5,)
    (tmp_path / "certificate.json").write_text("{}", encoding="utf-8")
    assert search.earlier(tmp_path).winner == tmp_path / "winner.py"


def test_a_search_that_takes_too_long_is_interrupted_first(tmp_path):
    polite = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(17))\n"
        "print('ready', file=sys.stderr, flush=True)\n"
        "signal.pause()\n"
    )
    code = search._run([sys.executable, "-c", polite], tmp_path / "stderr.txt", 3.0)
    assert code in (17, -signal.SIGINT)


def test_a_failing_kernel_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    def pretend_search(example, options):
        return search.Search(3, 1.0, None, "nothing better found", 4)

    def pretend_measuring(request):
        if "softmax" in request["kernel"]:
            return "measuring ended with code -11: "
        document = {"workloads": [summary(submitted=[2e-6] * 10, found=[2e-6] * 10)]}
        Path(request["output"]).write_text(json.dumps(document), encoding="utf-8")
        return ""

    monkeypatch.setattr(run, "_search", pretend_search)
    monkeypatch.setattr(run, "_run_compare", pretend_measuring)
    out = tmp_path / "record.json"
    common = ["--date", "2026-01-31", "--out", str(out), "--work", str(tmp_path / "work")]
    assert run.main([*common, "--only", "softmax_rows", "--only", "column_sum"]) == 1
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["date"] == "2026-01-31"
    assert record["kernels"]["softmax_rows"]["failure"] == "measuring ended with code -11: "
    assert record["kernels"]["column_sum"]["measured"]["workloads"][0]["speedup"]["estimate"] == 1.0
    assert "softmax_rows" in capsys.readouterr().out
    assert run.main([*common, "--only", "layer_norm"]) == 1
    assert set(json.loads(out.read_text(encoding="utf-8"))["kernels"]) == {
        "softmax_rows",
        "column_sum",
        "layer_norm",
    }


def test_measuring_runs_end_to_end_in_the_interpreter(tmp_path):
    output = tmp_path / "measured.json"
    example = ROOT / "examples" / "softmax_rows"
    request = {
        "kernel": f"{example}.py",
        "found": f"{example}.py",
        "reference": f"{example}_pytorch.py",
        "spec": f"{example}.yaml",
        "device": "cpu",
        "variants": ["ci"],
        "rounds": 3,
        "seconds": 1.0,
        "with_compiled": False,
        "output": str(output),
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.submitted.compare"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=200,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(output.read_text(encoding="utf-8"))
    assert len(measured["workloads"]) == 3
    for each in measured["workloads"]:
        assert each["failures"] == {}
        assert set(each["sides"]) == {"submitted", "found", "eager"}
        assert all(side["is_verified"] for side in each["sides"].values())
    assert measured["ceilings"]["copy_bytes_per_s"] > 0
