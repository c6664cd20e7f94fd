"""C kernels of the fusion compiler against eager and ``torch.compile`` on the CPU.

    python -m benchmarks.fusion.cpu --threads 2 --repeats 30 --out cpu.json

Each round times every side once, in turn, and the ratios are of medians; their spread is that of
the ratios of single rounds (10 % to 90 %). Inputs and weights lie in memory as a caller has them:
whatever is packed is packed inside the timed call. Every output of every side is compared with
float64 first.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.emit.c.build import build
from xeforge.fusion.emit.c.load import load
from xeforge.fusion.emit.c.source import emit
from xeforge.fusion.emit.c.target import this_machine
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.search import search

WARM = 3
FACTOR = 8.0
"""How often the error of eager may be exceeded."""
SMALLEST = 1e-5
"""Error that is always allowed, in units of an output's largest value."""

Step = Callable[[Recorder, Any], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        name: What it computes.
        shape: Of the input.
        graph: Adds the operators to a recorder, given the input.
        eager: The same in Torch, of the tensors in the order in which the recorder made them.
    """

    name: str
    shape: tuple[int, ...]
    graph: Step
    eager: Callable[..., torch.Tensor]


def _linear(recorder: Recorder, x: Any, wide: int) -> Any:
    deep = recorder.value(x).shape[-1]
    weight = recorder.parameter(wide, deep, low=-0.1, high=0.1)
    return recorder.op("linear", x, weight, recorder.parameter(wide))


def _affine(recorder: Recorder, x: Any, *leading: Any, wide: int, op: str) -> Any:
    pair = (recorder.parameter(wide), recorder.parameter(wide))
    return recorder.op(op, x, *leading, *pair, 1e-5, False)


def _chain(recorder: Recorder, x: Any) -> Any:
    shifted = recorder.op("add", x, recorder.parameter(recorder.value(x).shape[-1]))
    return recorder.op("mul", recorder.op("gelu", shifted), recorder.op("sigmoid", x))


ROWS = (
    Row("gemm", (1024, 1024), lambda r, x: r.op("matmul", x, r.parameter(1024, 1024)), torch.mm),
    Row(
        "gemm ragged",
        (500, 777),
        lambda r, x: r.op("matmul", x, r.parameter(777, 1001)),
        torch.mm,
    ),
    Row(
        "linear, gelu",
        (1024, 1024),
        lambda r, x: r.op("gelu", _linear(r, x, 1024)),
        lambda x, w, b: functional.gelu(functional.linear(x, w, b)),
    ),
    Row(
        "linear, silu, few rows",
        (64, 2048),
        lambda r, x: r.op("silu", _linear(r, x, 2048)),
        lambda x, w, b: functional.silu(functional.linear(x, w, b)),
    ),
    Row(
        "linear, log-sum-exp",
        (1024, 512),
        lambda r, x: r.op("logsumexp", _linear(r, x, 2048), [1], True),
        lambda x, w, b: functional.linear(x, w, b).logsumexp(1, keepdim=True),
    ),
    Row(
        "linear, softmax",
        (1024, 512),
        lambda r, x: r.op("softmax", _linear(r, x, 1024), 1),
        lambda x, w, b: functional.linear(x, w, b).softmax(1),
    ),
    Row(
        "linear, group norm, hardtanh",
        (1024, 1024),
        lambda r, x: r.op(
            "hardtanh", _affine(r, _linear(r, x, 1024), 8, wide=1024, op="group_norm"), -2.0, 2.0
        ),
        lambda x, w, b, g, h: functional.hardtanh(
            functional.group_norm(functional.linear(x, w, b), 8, g, h), -2.0, 2.0
        ),
    ),
    Row(
        "linear, relu, sum over rows",
        (1024, 1024),
        lambda r, x: r.op("sum", r.op("relu", _linear(r, x, 1024)), [1], True),
        lambda x, w, b: functional.linear(x, w, b).relu().sum(1, keepdim=True),
    ),
    Row("softmax", (2048, 2048), lambda r, x: r.op("softmax", x, 1), lambda x: x.softmax(1)),
    Row(
        "layer norm",
        (2048, 2048),
        lambda r, x: _affine(r, x, [2048], wide=2048, op="layer_norm"),
        lambda x, w, b: functional.layer_norm(x, (2048,), w, b),
    ),
    Row(
        "softmax of channels",
        (16, 32, 64, 64),
        lambda r, x: r.op("softmax", x, 1),
        lambda x: x.softmax(1),
    ),
    Row(
        "elementwise chain",
        (2048, 2048),
        _chain,
        lambda x, b: functional.gelu(x + b) * torch.sigmoid(x),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where an output is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--only", default="", help="part of the names of rows")
    parser.add_argument("--date", default="", help="kept in the record")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    torch._dynamo.config.cache_size_limit = 10 * len(ROWS)  # noqa: SLF001
    load_before = os.getloadavg()[0]
    chosen = [each for each in ROWS if options.only in each.name]
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(each, options.repeats, Path(folder)) for each in chosen]
    summary = {
        "date": options.date,
        "machine": platform.processor() or platform.machine(),
        "target": this_machine().name,
        "torch": torch.__version__,
        "threads": options.threads,
        "load_before": load_before,
        "load_after": os.getloadavg()[0],
        "geomean_over_eager": geomean(rows, "over_eager"),
        "geomean_over_compile": geomean(rows, "over_compile"),
        "rows": rows,
    }
    if options.out is not None:
        options.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    for name in ("geomean_over_eager", "geomean_over_compile", "load_before", "load_after"):
        print(f"{name}: {summary[name]:.2f}")
    return 0 if all(each["is_right"] for each in rows) else 1


def geomean(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    """Return the geometric mean of one kind of ratio."""
    return math.exp(statistics.fmean(math.log(each[name]["ratio"]) for each in rows))


def measured(row: Row, repeats: int, folder: Path) -> dict[str, Any]:
    """Build, verify and time one row."""
    recorder = Recorder("float32")
    program = program_of(recorder, row.graph(recorder, recorder.input(*row.shape)))
    begun = time.perf_counter()
    plan = search(program, CPU)[0].plan
    source = emit(plan, this_machine())
    emitted_seconds = time.perf_counter() - begun
    compiled = load(build(source, folder=folder), source)
    names = [each.name for each in (*recorder.inputs, *recorder.parameters)]
    tensors = [recorder.tensors[name] for name in names]
    arrays = {name: recorder.tensors[name].numpy() for name in names}
    (output,) = program.outputs
    inductor = torch.compile(row.eager)
    sides: dict[str, Callable[[], Any]] = {
        "ours": lambda: torch.from_numpy(compiled(arrays)[output]),
        "eager": lambda: row.eager(*tensors),
        "compile": lambda: inductor(*tensors),
    }
    exact = row.eager(*(each.double() for each in tensors))
    errors = {name: off(side(), exact) for name, side in sides.items()}
    times = timed(sides, repeats)
    found = {
        "name": row.name,
        "shape": row.shape,
        "families": [group.family for group in plan.groups],
        "plan_and_emit_seconds": emitted_seconds,
        "errors": errors,
        "is_right": errors["ours"] <= max(SMALLEST, FACTOR * errors["eager"]),
        "medians_ms": {name: 1e3 * statistics.median(each) for name, each in times.items()},
        "least_ms": {name: 1e3 * min(each) for name, each in times.items()},
        "over_eager": ratio(times["eager"], times["ours"]),
        "over_compile": ratio(times["compile"], times["ours"]),
    }
    medians = " ".join(f"{name} {value:.3f} ms" for name, value in found["medians_ms"].items())
    ratios = " ".join(
        f"{name} {found[name]['ratio']:.2f} [{found[name]['low']:.2f}, {found[name]['high']:.2f}]"
        for name in ("over_eager", "over_compile")
    )
    verdict = "right" if found["is_right"] else "WRONG"
    print(f"{row.name:30} {verdict} {medians} {ratios}", flush=True)
    return found


def off(found: torch.Tensor, exact: torch.Tensor) -> float:
    """Return the largest error, in units of the largest value."""
    return float((found.double() - exact).abs().max() / exact.abs().max())


def timed(sides: Mapping[str, Callable[[], Any]], repeats: int) -> Mapping[str, list[float]]:
    """Time every side once per round, in turn."""
    for side in sides.values():
        for _ in range(WARM):
            side()
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            begun = time.perf_counter()
            side()
            times[name].append(time.perf_counter() - begun)
    return times


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> dict[str, float]:
    """Return the ratio of medians, and where most ratios of single rounds lie."""
    single = statistics.quantiles(
        [left / right for left, right in zip(theirs, ours, strict=True)], n=10
    )
    whole = statistics.median(theirs) / statistics.median(ours)
    return {"ratio": whole, "low": single[0], "high": single[-1]}


if __name__ == "__main__":
    sys.exit(main())
