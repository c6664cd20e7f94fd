"""Optimizes every example and measures what was found. See README.md beside this file."""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.submitted.search import Example
from benchmarks.submitted.search import Search
from benchmarks.submitted.search import earlier
from benchmarks.submitted.search import examples
from benchmarks.submitted.search import search
from benchmarks.submitted.table import render

ROOT = Path(__file__).resolve().parents[2]
_MEASURING_TIMEOUT_SECONDS = 900.0


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; return 0 when every kernel was measured."""
    options = _options(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    record = _open_record(options)
    chosen = examples(ROOT / "examples", tuple(options.only))
    with ThreadPoolExecutor(options.side_by_side) as pool:
        searches = list(pool.map(lambda each: _search(each, options), chosen))
    for example, found in zip(chosen, searches, strict=True):
        print(f"== {example.name}: {found.headline or found.last_words}", file=sys.stderr)
        if options.search_only:
            continue
        record["kernels"][example.name] = _measure(example, found, options)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if not options.search_only:
        print(render(record))
    return int(any("failure" in each for each in record["kernels"].values()))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.submitted.run", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="repeatable")
    parser.add_argument("--variant", action="append", default=[], help="variant of the specs")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--date", required=True, help="stands in the record, e.g. 2026-01-31")
    parser.add_argument("--commit", default=None, help="default: asked from git")
    parser.add_argument("--budget-trials", type=int, default=None)
    parser.add_argument("--budget-seconds", type=float, default=None)
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds per search")
    parser.add_argument(
        "--side-by-side",
        type=int,
        default=1,
        metavar="N",
        help="searches at once; the product keeps the card to one of them at a time",
    )
    parser.add_argument("--search-only", action="store_true", help="measure later, with --reuse")
    parser.add_argument("--reuse", action="store_true", help="measure winners found earlier")
    parser.add_argument("--rounds", type=int, default=100, help="timed calls per side")
    parser.add_argument("--seconds", type=float, default=6.0, help="wall time per workload")
    parser.add_argument("--without-compiled", action="store_true", help="leave torch.compile out")
    parser.add_argument("--work", type=Path, default=Path("xeforge-reports/submitted"))
    parser.add_argument("--out", type=Path, required=True, help="record; added to when it exists")
    return parser.parse_args(arguments)


def _open_record(options: argparse.Namespace) -> dict[str, Any]:
    """Return the record to add to, so that kernels can be measured in several goes."""
    record: dict[str, Any] = {}
    if options.out.is_file():
        record = json.loads(options.out.read_text(encoding="utf-8"))
    kernels = record.get("kernels", {})
    commit = options.commit or _commit()
    return {"format": 1, "date": options.date, "commit": commit, "kernels": kernels}


def _commit() -> str:
    """Return the commit of this checkout; empty where there is none."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments
    except OSError:
        return ""
    return done.stdout.strip()


def _search(example: Example, options: argparse.Namespace) -> Search:
    folder = options.work / example.name
    if options.reuse:
        return earlier(folder)
    return search(
        example,
        folder,
        device=options.device,
        variants=tuple(options.variant),
        trials=options.budget_trials,
        seconds=options.budget_seconds,
        timeout_seconds=options.timeout,
    )


def _measure(example: Example, found: Search, options: argparse.Namespace) -> dict[str, Any]:
    """Measure in a process of its own: a crash there loses one kernel, not the run."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "measured.json"
        request = {
            "kernel": str(example.kernel),
            "found": str((found.winner or example.kernel).resolve()),
            "reference": str(example.reference),
            "spec": str(example.spec),
            "device": options.device,
            "variants": options.variant,
            "rounds": options.rounds,
            "seconds": options.seconds,
            "with_compiled": not options.without_compiled,
            "output": str(output),
        }
        failure = _run_compare(request)
        measured = json.loads(output.read_text(encoding="utf-8")) if output.is_file() else None
    result = {
        "search": asdict(found) | {"winner": found.winner.name if found.winner else None},
        "measured": measured,
        "found_source": found.winner.read_text(encoding="utf-8") if found.winner else None,
    }
    return result | ({"failure": failure} if failure else {})


def _run_compare(request: dict[str, Any]) -> str:
    """Run the measuring process; return why it failed, or nothing."""
    command = [sys.executable, "-m", "benchmarks.submitted.compare"]
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            timeout=_MEASURING_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"measuring took more than {_MEASURING_TIMEOUT_SECONDS:.0f} s"
    if done.returncode == 0:
        return ""
    last = done.stderr.strip().splitlines()
    return f"measuring ended with code {done.returncode}: {last[-1] if last else ''}"


if __name__ == "__main__":
    sys.exit(main())
