"""Times the examples of recipes on a card: before against after, alternated, caches cold.

    python -m benchmarks.knowledge.effects --date 2026-01-31 --out effects.json

Needs torch and triton only. All kernels are compiled first, by several processes at once that fill
Triton's cache on disk. Then each pair is run on the same inputs, its answers are compared, and its
two sides are timed in turn, the last-level cache filled with other lines before each call.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks.fusion.clock import Clock
from benchmarks.fusion.clock import card_facts
from knowledge.pair_runner import Run
from knowledge.pair_runner import difference
from knowledge.pair_runner import load_run
from knowledge.pair_runner import make_inputs

ROOT = Path(__file__).parents[2]
PLAN = Path(__file__).parent / "plan.json"
MIN_TURNS = 5
MAX_TURNS = 60
DEVICE = "cuda"

Pair = dict[str, Any]


def main() -> int:
    """Compile, time, write; return the exit code: 1 when answers differ."""
    options = _options()
    started = time.perf_counter()
    pairs: list[Pair] = json.loads(PLAN.read_text(encoding="utf-8"))
    if options.only:
        pairs = [each for each in pairs if each["name"] in options.only.split(",")]
    if options.compile:
        for pair in pairs:
            _call_once(pair)
        return 0
    trouble = compile_all(pairs, options.processes)
    compiled = time.perf_counter()
    clock = Clock(DEVICE)
    results = [timed(each, clock, options.seconds) for each in pairs]
    ended = time.perf_counter()
    body = {
        "date": options.date,
        "card": card_facts(DEVICE),
        "python": platform.python_version(),
        "method": (
            "events around run(), enqueued while the card is still busy; cold caches; sides in "
            "turn, order swapped each time; ratio is the median of before/after of neighbours, low "
            "and high its quartiles"
        ),
        "calls_with_host_time": clock.late,
        "compile_seconds": round(compiled - started, 1),
        "timing_seconds": round(ended - compiled, 1),
        "compile_trouble": trouble,
        "pairs": results,
    }
    Path(options.out).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    for each in results:
        print(_line(each))
    print(f"{len(results)} pairs in {ended - started:.0f} s")
    return 1 if any(each["trouble"] for each in results) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="day of the measurement, written down")
    parser.add_argument("--out", required=True, help="JSON file to write")
    parser.add_argument("--only", default="", help="names of pairs, with commas")
    parser.add_argument("--seconds", type=float, default=0.4, help="most time for each pair")
    parser.add_argument("--processes", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--compile", action="store_true", help="only fill the cache")
    return parser.parse_args()


def compile_all(pairs: Sequence[Pair], processes: int) -> list[str]:
    """Run every pair once, shared among processes; return what they complained of."""
    shares = [pairs[start::processes] for start in range(processes)]
    command = [sys.executable, "-m", "benchmarks.knowledge.effects", "--date", "-", "--out", "-"]
    children = [
        subprocess.Popen(  # noqa: S603 - our own module
            [*command, "--compile", "--only", ",".join(each["name"] for each in share)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for share in shares
        if share
    ]
    complaints = [child.communicate()[1] for child in children]
    return [
        text[-500:] for text, child in zip(complaints, children, strict=True) if child.returncode
    ]


def _call_once(pair: Pair) -> None:
    """Compile both sides of a pair; what fails here is reported when it is timed."""
    try:
        for run, given in zip(_sides(pair), _inputs(pair), strict=True):
            run(*given)
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001 - the timing run says it again, with its pair
        print(f"{pair['name']}: {error}", file=sys.stderr)


def _sides(pair: Pair) -> tuple[Run, Run]:
    return load_run(ROOT / pair["before"]), load_run(ROOT / pair["after"])


def _inputs(pair: Pair) -> tuple[list[Any], list[Any]]:
    one = make_inputs(pair["inputs"], pair["large"], device=DEVICE, seed=0)
    return one, [each.clone() for each in one]


def timed(pair: Pair, clock: Clock, seconds: float) -> dict[str, Any]:
    """Compare the answers of a pair and time its sides in turn."""
    head = {"pair": pair["name"], "recipes": pair["recipes"], "sizes": pair["large"]}
    try:
        runs, given = _sides(pair), _inputs(pair)
        answers = [run(*each) for run, each in zip(runs, given, strict=True)]
        trouble = difference(answers[1], answers[0], rtol=pair["rtol"], atol=pair["atol"])
        del answers
        if trouble:
            return {**head, "trouble": trouble}
        calls = [
            lambda run=run, each=each: run(*each) for run, each in zip(runs, given, strict=True)
        ]
        return {**head, "trouble": "", **summary(*_turns(calls, clock, seconds))}
    except Exception as error:  # noqa: BLE001 - one broken pair must not end the run
        return {**head, "trouble": f"{type(error).__name__}: {error}"[:500]}
    finally:
        torch.cuda.empty_cache()


def _turns(
    calls: Sequence[Callable[[], Any]], clock: Clock, seconds: float
) -> tuple[list[float], list[float]]:
    """Return milliseconds of both sides, turn by turn."""
    found: tuple[list[float], list[float]] = ([], [])
    for call in calls:
        call()
    until = time.perf_counter() + seconds
    for turn in range(MAX_TURNS):
        if turn >= MIN_TURNS and time.perf_counter() > until:
            break
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            found[side].append(clock.once(calls[side]) * 1e-3)
    return found


def summary(before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """Return medians, the ratio before over after, and its quartiles over neighbouring calls."""
    ratios = sorted(one / two for one, two in zip(before, after, strict=True))
    return {
        "before_ms": round(median(before), 5),
        "after_ms": round(median(after), 5),
        "ratio": round(median(ratios), 4),
        "low": round(ratios[len(ratios) // 4], 4),
        "high": round(ratios[-1 - len(ratios) // 4], 4),
        "turns": len(ratios),
    }


def _line(result: dict[str, Any]) -> str:
    if result["trouble"]:
        return f"{result['pair']:34} {result['trouble']}"
    return (
        f"{result['pair']:34} {result['before_ms']:9.4f} ms {result['after_ms']:9.4f} ms "
        f"{result['ratio']:7.3f}x ({result['low']:.3f} to {result['high']:.3f})"
    )


if __name__ == "__main__":
    sys.exit(main())
