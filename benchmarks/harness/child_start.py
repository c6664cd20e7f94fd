"""How long a child with the libraries imported takes to start: cold, kept ahead, or forked.

Run as ``python -m benchmarks.harness.child_start --repeats 20 --out start.json``.
"""

import argparse
import json
import os
import platform
import statistics
import threading
import time
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path

from bench_workers.sandbox.launch import Child
from bench_workers.sandbox.launch import Spares
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.spares import PRELOAD
from bench_workers.sandbox.zygote import Zygote

_ROLE = "echo"
_OWN_TIME = "import time\nanswer['seconds'] = time.process_time()"


@dataclass(frozen=True, slots=True)
class Samples:
    """Starts of one kind.

    Attributes:
        kind: How the child came to be.
        start_seconds: From asking for it until it can be asked, in order.
        close_seconds: From closing it until no process and no folder of it is left, in order.
        cpu_seconds: Processor time that the child itself had taken by then, in order.
    """

    kind: str
    start_seconds: tuple[float, ...]
    close_seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]

    def line(self) -> str:
        """Return a row for people: median and the middle half of each."""
        columns = (self.start_seconds, self.close_seconds, self.cpu_seconds)
        return f"{self.kind:8}" + "".join(f"{_spread(column):>30}" for column in columns)


def measure(kind: str, take: Callable[[], Child], repeats: int, rest_seconds: float) -> Samples:
    """Take children one after the other, the first one not counted.

    Args:
        kind: How they come to be.
        take: Returns one that can be asked.
        repeats: How many.
        rest_seconds: Between two, so that one kept ahead is warm again.
    """
    take().close()
    rows = []
    for _ in range(repeats):
        threading.Event().wait(rest_seconds)
        began = time.perf_counter()
        child = take()
        started = time.perf_counter()
        cpu = child.request("run", {"source": _OWN_TIME}, deadline_seconds=60)["seconds"]
        closing = time.perf_counter()
        child.close()
        rows.append((started - began, time.perf_counter() - closing, float(cpu)))
    starts, closes, times = zip(*rows, strict=True)
    return Samples(kind, starts, closes, times)


def _spread(values: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} s ({low:.3f} to {high:.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all kinds in the strongest layer; print a table, write the samples if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness.child_start")
    parser.add_argument("--layer", default=None, help="isolation layer; the strongest by default")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--preload", default=",".join(PRELOAD), help="modules to import ahead")
    parser.add_argument("--out", type=Path, help="file for the samples, as JSON")
    chosen = parser.parse_args(arguments)
    layer = chosen.layer or best_layer()
    options = {"preload": [name for name in chosen.preload.split(",") if name]}
    policy, form = default_policy("cpu", layer=layer), standing(layer)
    cold = measure("cold", lambda: launch(_ROLE, policy, options=options), chosen.repeats, 0.0)
    rest = 3 * statistics.median(cold.start_seconds)
    spares = Spares(policy, count=1, options=options, parallel=1)
    ahead = measure("spare", lambda: spares.take(_ROLE), chosen.repeats, rest)
    spares.close()
    zygote = Zygote(policy, form.module, uid=form.uid, options=options)
    forked = measure("zygote", lambda: zygote.take(_ROLE), chosen.repeats, 0.0)
    zygote.close()
    found = (cold, ahead, forked)
    print(f"{layer}, {os.cpu_count()} processors, {platform.release()}: median (middle half)")
    print(f"{'':8}{'start':>30}{'close':>30}{'own processor time':>30}")
    for samples in found:
        print(samples.line())
    if chosen.out is not None:
        machine = {"processors": os.cpu_count(), "kernel": platform.release()}
        record = {"layer": layer, "machine": machine, "kinds": [asdict(each) for each in found]}
        chosen.out.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
