"""How many candidates a minute the bench verifies and times, and how far its figures carry.

Run as ``python -m benchmarks.harness.throughput --date 2026-01-31 --commit abc --out FILE``; with
``--cards 0,1`` once on each card alone and then on both at the same time. See README.md beside it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.harness.pieces import Bench
from benchmarks.harness.pieces import Candidate
from benchmarks.harness.pieces import broken
from benchmarks.harness.pieces import variants
from xeforge.app.request import to_problem

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Measure and write the record; return 0."""
    options = _options(arguments)
    record: dict[str, Any] = {"format": 1, "date": options.date, "commit": options.commit}
    cards = options.cards.split(",") if options.cards else []
    if len(cards) > 1:
        alone = [_elsewhere(options, (card,))[0] for card in cards]
        together = _elsewhere(options, tuple(cards))
        record["alone"], record["together"] = alone, together
        one = sum(each["candidates_per_minute"] for each in alone) / len(alone)
        both = sum(each["candidates_per_minute"] for each in together)
        record["scaling"] = both / one
    else:
        record |= measure(options)
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    summary = {key: value for key, value in record.items() if isinstance(value, int | float | str)}
    print(json.dumps(summary, indent=1))
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness.throughput")
    parser.add_argument("--example", default="softmax_rows", help="of examples/")
    parser.add_argument("--device", default="cuda", choices=("cuda", "xpu", "cpu"))
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=10, help="measurements of one pair")
    parser.add_argument("--cards", default="", help="numbers of two or more cards")
    parser.add_argument("--date", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args(arguments)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Do everything on the visible card."""
    kernel = ROOT / "examples" / f"{options.example}.py"
    problem = to_problem(
        kernel,
        spec=kernel.with_suffix(".yaml"),
        reference=kernel.with_name(f"{options.example}_pytorch.py"),
        variants=None,
        device=options.device,
        target=None,
    )
    with Bench(problem) as bench:
        bench.audit()
        candidates = bench.prepare(variants(problem.kernel.text, options.candidates))
        done, seconds = _judged(bench, candidates)
        failing = bench.failing_build(broken(problem.kernel.text))
        spread = bench.repeated(candidates[-1], options.repeats) if options.repeats else {}
        card = bench.history.audited.card if bench.history.audited else None
    return {
        "example": options.example,
        "card": asdict(replace(card, uuid="")) if card else None,
        "candidates": done,
        "candidates_per_minute": 60 * len(done) / seconds,
        "seconds_per_candidate": seconds / len(done),
        "harness_seconds_median": _median([each["harness_seconds"] for each in done]),
        "oracle_seconds_median": _median([each["oracle_seconds"] for each in done]),
        "a_a_worst": max((abs(each["a_a"] - 1) for each in done if each["a_a"]), default=None),
        "device_requests_of_a_failing_build": failing,
        "repeated": spread,
        "repeated_spread": spread.get("spread"),
        "judge_peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "judge_holds_torch": "torch" in sys.modules,
    }


def _judged(bench: Bench, candidates: list[Candidate]) -> tuple[list[dict[str, Any]], float]:
    """Verify and time every candidate; the first one, which meets cold children, is not counted."""
    bench.judge(candidates[0])
    started = time.perf_counter()
    done = [bench.judge(each) for each in candidates[1:]]
    return done, time.perf_counter() - started


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _elsewhere(options: argparse.Namespace, cards: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run this program once per card, all at the same time; return their records."""
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for card in cards:
            out = Path(folder) / f"{card}.json"
            command = [sys.executable, "-m", "benchmarks.harness.throughput", "--repeats", "0"]
            command += ["--example", options.example, "--device", options.device]
            command += ["--candidates", str(options.candidates), "--date", options.date]
            command += ["--out", str(out)]
            variables = {**os.environ, "CUDA_VISIBLE_DEVICES": card, "ZE_AFFINITY_MASK": card}
            process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
            started.append((process, out))
        failed = [process.wait() for process, _ in started]
        if any(failed):
            raise SystemExit(f"a run on one of the cards {', '.join(cards)} failed")
        return [json.loads(out.read_text(encoding="utf-8")) for _, out in started]


if __name__ == "__main__":
    sys.exit(main())
