"""Times kernels of the fusion compiler on a card, in turn with eager and `torch.compile`.

    python -m benchmarks.fusion.plans --date 2026-01-31 --out plans.json --sources made
    python -m benchmarks.fusion.card --sources made --date 2026-01-31 --out card.json

Needs Torch and Triton only. Everything is compiled first, in `--jobs` processes. Every call finds
cold caches and is enqueued before the card is free, so that no time of the host is in it; every
output is compared with float64, and its error with that of eager. A few rounds choose the fastest
file of a folder; other rounds, in turn with eager and `torch.compile`, say how fast it is. What was
made with a part of the compiler left out is timed a few times only: it may be very slow.
"""

import argparse
import gc
import json
import math
import statistics
import sys
import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from benchmarks.fusion.clock import Call
from benchmarks.fusion.clock import Clock
from benchmarks.fusion.clock import card_facts
from benchmarks.fusion.clock import ratio
from benchmarks.fusion.module import Module
from benchmarks.fusion.module import flat
from benchmarks.fusion.warm import ablated_files
from benchmarks.fusion.warm import fused_files
from benchmarks.fusion.warm import warm

MOST_ERROR = 4.0
"""How often eager's own error against float64 a kernel may exceed."""
LEAST_ERROR = 1e-3
"""Relative error that is always allowed in 16-bit formats."""
CHOOSING_ROUNDS = 5
ABLATED_CALLS = 5
HOPELESS = 4.0
"""A file that takes so many times longer than eager in its first timed call is not timed again."""
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Time everything; 0 when every output was right."""
    options = _options(arguments)
    folders = [
        each
        for each in sorted(options.sources.iterdir(), key=lambda each: (len(each.name), each.name))
        if not options.only or each.name in options.only
    ]
    record: Row = {"format": 2, "date": options.date, "commit": options.commit}
    record |= {"card": card_facts(options.device), "not_compiled": [], "rows": []}
    started = time.monotonic()
    if options.jobs:
        record["not_compiled"] = warm(
            folders, options.device, jobs=options.jobs, compiled=not options.without_compiled
        )
        print(f"compiled in {time.monotonic() - started:.0f} s", *record["not_compiled"], sep="\n")
    clock = Clock(options.device)
    record["copy_bytes_per_s"] = clock.copy_bytes_per_s()
    for folder in folders:
        if time.monotonic() - started > options.budget_seconds:
            record["cut"] = f"{folder.name} and what follows was not timed: no time left"
            print(record["cut"])
            break
        record["rows"].append(_tried(folder, clock, options))
        print(line(record["rows"][-1]), flush=True)
        # Written after each row, so that a run that is stopped is not lost.
        record["summary"] = {**summary(record["rows"]), "calls_with_host_time": clock.late}
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record.get("summary", {}), indent=1))
    return 0 if all(is_right(each) for each in record["rows"]) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=14, help="that compile ahead; 0: none")
    parser.add_argument("--budget-seconds", type=float, default=math.inf)
    parser.add_argument("--without-compiled", action="store_true")
    return parser.parse_args(arguments)


def _tried(folder: Path, clock: Clock, options: argparse.Namespace) -> Row:
    try:
        return {"id": folder.name, **_row(folder, clock, options)}
    except Exception as error:  # noqa: BLE001  one module that fails says nothing of the others
        return {"id": folder.name, "failures": {"module": _words(error)}, "errors": {}}
    finally:
        torch._dynamo.reset()  # noqa: SLF001
        gc.collect()
        torch.cuda.empty_cache()


def _row(folder: Path, clock: Clock, options: argparse.Namespace) -> Row:
    module = Module.load(folder, options.device)
    sides: dict[str, Call] = {"eager": lambda: module.model(*module.inputs)}
    if not options.without_compiled:
        compiled: Any = torch.compile(module.model)
        sides["compiled"] = lambda: compiled(*module.inputs)
    with torch.no_grad():
        made, failures = _made(module, fused_files(folder))
        errors = _errors(module, {**sides, **made})
        right = {name: made[name] for name in made if is_near(name, errors)}
        first = _choosing(clock, sides["eager"], right)
        row: Row = {"compulsory_bytes": module.compulsory_bytes()}
        row |= {"errors": errors, "failures": failures, "choosing": first}
        if not first:
            return row
        best = min(first, key=lambda each: first[each])
        times = clock.in_turn({**sides, best: right[best]}, options.rounds)
        row |= _ablated(module, clock, errors["eager"], statistics.median(times[best]))
    row |= {"best": best, "rounds": options.rounds}
    row["microseconds"] = {name: statistics.median(each) for name, each in times.items()}
    for name in sides:
        row[f"over_{name}"] = asdict(ratio(times[name], times[best]))
    return row


def _ablated(module: Module, clock: Clock, eager_error: float, best: float) -> Row:
    """Return how many times longer files take that were made with less."""
    calls, failures = _made(module, ablated_files(module.folder))
    if not calls and not failures:
        return {}
    found: Row = {"failures": failures} if failures else {}
    for name, call in calls.items():
        error = _errors(module, {name: call})[name]
        times = [clock.once(call) for _ in range(ABLATED_CALLS)]
        is_right = is_near(name, {name: error, "eager": eager_error})
        found[name] = {"times_longer": statistics.median(times) / best, "is_right": is_right}
    return {"ablated": found}


def _made(module: Module, paths: Sequence[Path]) -> tuple[dict[str, Call], dict[str, str]]:
    """Load files and call each once; return calls, and why others fail."""
    calls: dict[str, Call] = {}
    failures = {}
    for path in paths:
        try:
            made = module.fused(path)
            made(*module.inputs)
            torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001  one file that fails says nothing of the others
            failures[path.stem] = _words(error)
        else:
            calls[path.stem] = lambda made=made: made(*module.inputs)  # type: ignore[misc]
    return calls, failures


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _errors(module: Module, calls: Mapping[str, Call]) -> dict[str, float]:
    """Return each side's relative error against float64, in the root mean square."""
    wanted = module.exact()
    size = torch.linalg.vector_norm(wanted).clamp(min=1e-30)
    return {
        name: float(torch.linalg.vector_norm(flat(call()).double() - wanted) / size)
        for name, call in calls.items()
    }


def _choosing(clock: Clock, eager: Call, made: Mapping[str, Call]) -> dict[str, float]:
    """Return microseconds of each file, less those that are hopeless."""
    yardstick = min(clock.once(eager) for _ in range(3))
    kept = {
        name: call for name, call in made.items() if clock.once(call) < HOPELESS * yardstick
    } or dict(list(made.items())[:1])
    times = clock.in_turn(kept, CHOOSING_ROUNDS)
    return {name: statistics.median(each) for name, each in times.items()}


def is_near(name: str, errors: Mapping[str, float]) -> bool:
    """Say whether a side is as near to float64 as a kernel must be."""
    return errors[name] <= max(MOST_ERROR * errors["eager"], LEAST_ERROR)


def is_right(row: Row) -> bool:
    """Say whether nothing of a row was wrong."""
    return "best" in row and all(is_near(each, row["errors"]) for each in row["errors"])


def summary(rows: Sequence[Row]) -> Row:
    """Return geometric means, and the worst against the better of eager and `torch.compile`."""
    timed = [each for each in rows if "best" in each]
    found: Row = {"rows": len(rows), "timed": len(timed)}
    found["wrong"] = [each["id"] for each in rows if not is_right(each)]
    for other in ("over_eager", "over_compiled"):
        ratios = [each[other]["ratio"] for each in timed if other in each]
        if ratios:
            found[f"{other}_geomean"] = statistics.geometric_mean(ratios)
    for name in ("without_algebra", "without_fusion", "without_matrix_units"):
        longer = [
            each["ablated"][name]["times_longer"]
            for each in timed
            if name in each.get("ablated", {})
        ]
        if longer:
            found[f"{name}_times_longer_geomean"] = statistics.geometric_mean(longer)
    worst = {each["id"]: against_better(each) for each in timed}
    if worst:
        found["worst_against_better"] = dict(sorted(worst.items(), key=lambda each: each[1])[:8])
    return found


def against_better(row: Row) -> float:
    """Return how many times faster than the better of eager and `torch.compile`."""
    return min(row[each]["ratio"] for each in ("over_eager", "over_compiled") if each in row)


def line(row: Row) -> str:
    """Return a row for people."""
    words = [f"{row['id']:>4}", "right" if is_right(row) else "WRONG", row.get("best", "none")]
    words += [f"{row['microseconds'][row['best']]:.0f} us"] if "best" in row else []
    for other in ("eager", "compiled"):
        found = row.get(f"over_{other}")
        if found:
            words.append(f"{found['ratio']:.2f}x {other} [{found['low']:.2f}, {found['high']:.2f}]")
    words += [f"{name} fails: {text[:80]}" for name, text in row["failures"].items()]
    return "  ".join(words)


if __name__ == "__main__":
    sys.exit(main())
