"""Times detection and selection over the examples, as `xeforge kb why` does them.

    python -m benchmarks.knowledge.speed --date 2026-01-31 --out speed.json

Reading the packs, once per process, is given apart.
"""

import argparse
import json
import platform
import time
from pathlib import Path
from statistics import median
from typing import Any

from knowledge.load import load_devices
from knowledge.packs import load_base
from knowledge.recipes import KnowledgeBase
from knowledge.select import Question
from knowledge.select import select
from xeforge.domain.device import Device
from xeforge.domain.submission import SourceFile
from xeforge.intake.issues import find_issues
from xeforge.source.facts import read_facts
from xeforge.verify.gates.sites import sites_of

ROOT = Path(__file__).parents[2]
REPEATS = 5
LIMIT_MS = 300.0
"""What one kernel may take."""


def main() -> int:
    """Measure and write; return 1 when a kernel takes longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="day of the measurement, written down")
    parser.add_argument("--out", required=True, help="JSON file to write")
    options = parser.parse_args()
    started = time.perf_counter()
    base = load_base()
    load_ms = (time.perf_counter() - started) * 1e3
    device = load_devices()["nvidia-h200"]
    kernels = [
        measured(path, base, device)
        for path in sorted((ROOT / "examples").glob("*.py"))
        if not path.stem.endswith("_pytorch")
    ]
    body = {
        "date": options.date,
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "recipes": len(base.recipes),
        "load_packs_ms": round(load_ms, 1),
        "limit_ms": LIMIT_MS,
        "kernels": kernels,
    }
    Path(options.out).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    for each in kernels:
        print(f"{each['kernel']:32} {each['median_ms']:7.1f} ms, first {each['first_ms']:7.1f} ms")
    return 1 if any(each["first_ms"] > LIMIT_MS for each in kernels) else 0


def measured(path: Path, base: KnowledgeBase, device: Device) -> dict[str, Any]:
    """Time one kernel several times; the first time nothing is remembered of it."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        chosen, found = advised(path, base, device)
        times.append((time.perf_counter() - started) * 1e3)
    return {
        "kernel": path.stem,
        "issues": found,
        "chosen": chosen,
        "first_ms": round(times[0], 2),
        "median_ms": round(median(times), 2),
    }


def advised(path: Path, base: KnowledgeBase, device: Device) -> tuple[int, int]:
    """Detect and select for one kernel; return how much advice and how many issues there are."""
    source = SourceFile(str(path), path.read_text(encoding="utf-8"))
    reference = path.with_name(f"{path.stem}_pytorch.py")
    other = SourceFile(str(reference), reference.read_text(encoding="utf-8"))
    issues = find_issues(source, other, vendor=device.vendor)
    sites = sites_of(read_facts(source.text, source.path), device)
    selection = select(base, Question(sites, issues))
    return len(selection.chosen), len(issues)


if __name__ == "__main__":
    raise SystemExit(main())
