"""Compiles every graph of benchmarks/level2 to kernels: what is fused, what is refused, how fast.

Run as ``python -m benchmarks.fusion.plans --date 2026-01-31 --out FILE [--mode train]``.
Nothing is run; bytes and seconds of kernels are the cost model's.
"""

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from typing import cast

from bench_workers.host.capture import Capturing
from benchmarks.level2.capturing import capturing
from benchmarks.level2.load import OperatorGraph
from benchmarks.level2.load import load_graphs
from benchmarks.level2.load import source
from knowledge.load import find_device
from xeforge.domain.device import Device
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import UserError
from xeforge.fusion.driver import Compilation
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode

ABLATIONS = ("algebra", "fusion", "matrix_units")
"""What can be left out of a compilation."""


def main() -> None:
    """Compile, print a line for each graph, and write the record."""
    options = _options()
    rows = []
    with capturing() as opened:
        for row in _rows(opened, options):
            rows.append(row)
            print(_line(row), flush=True)
    done = [each for each in rows if "refused" not in each]
    seconds = [each["seconds"] for each in done]
    summary = {
        "graphs": len(rows),
        "compiled": len(done),
        "seconds_median": statistics.median(seconds),
        "seconds_most": max(seconds),
        "traffic_ratio_geomean": statistics.geometric_mean(
            each["bytes_before"] / each["bytes_after"] for each in done
        ),
    }
    facts = {"format": 1, "date": options.date, "commit": options.commit, "mode": options.mode}
    record = {**facts, "target": options.target, "summary": summary, "rows": rows}
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mode", choices=("eval", "train"), default="eval")
    parser.add_argument("--target", default="nvidia-h200")
    parser.add_argument("--dtype", default="float16")
    parser.add_argument("--without", choices=ABLATIONS, default=None)
    parser.add_argument("--only", type=int, action="append", default=[], metavar="ID")
    parser.add_argument("--sources", type=Path, help="folder for the files that were made")
    parser.add_argument("--ablations", action="store_true", help="files without each, too")
    parser.add_argument("--tiles", type=int, default=4, help="files of each plan")
    return parser.parse_args()


def _rows(opened: Capturing, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    device = find_device(options.target)
    for graph in load_graphs():
        if options.only and graph.id not in options.only:
            continue
        yield {"id": graph.id, **_row(opened, graph, device, options)}


def _row(
    opened: Capturing, graph: OperatorGraph, device: Device, options: argparse.Namespace
) -> dict[str, Any]:
    file = SourceFile(f"graph_{graph.id}.py", source(graph))
    inputs = tuple(TensorSpec(name, shape, options.dtype) for name, shape in graph.inputs.items())
    workload = Workload("level2", "level2", inputs, (), options.dtype, {})
    found = opened.capture(file, workload, cast("Mode", options.mode)).outcome
    if not isinstance(found, Graph):
        return {"refused": [f"{e.reason} line {e.line}: {e.message}" for e in found.refusals]}
    started = time.perf_counter()
    try:
        made = compile_graph(found, device, _wanted(options.without))
    except UserError as error:
        return {"refused": [str(error)]}
    row = {"seconds": time.perf_counter() - started, **_facts(made)}
    if options.sources:
        folder = options.sources / str(graph.id)
        _write(made, file.text, folder, options)
        for each in ABLATIONS if options.ablations else ():
            text = next(iter(compile_graph(found, device, _wanted(each)).built[0].sources()))
            (folder / f"without_{each}.py").write_text(text, encoding="utf-8")
    return row


def _wanted(without: str | None) -> Options:
    return Options(
        algebra=without != "algebra",
        fusion=without != "fusion",
        matrix_units=without != "matrix_units",
        proofs=False,
    )


def _write(made: Compilation, reference: str, folder: Path, options: argparse.Namespace) -> None:
    """Write the module, and each plan with a few choices of tiles."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ref.py").write_text(reference, encoding="utf-8")
    (folder / "dtype").write_text(options.dtype, encoding="utf-8")
    for built in made.built:
        for rank, text in enumerate(islice(built.sources(), options.tiles)):
            path = folder / f"fused_{built.name}_{rank}.py"
            path.write_text(text, encoding="utf-8")


def _facts(made: Compilation) -> dict[str, Any]:
    best = made.built[0]
    cost = best.candidate.estimate
    plan = best.candidate.plan
    return {
        "rules": [each.rule for each in made.rewritten.proofs] if made.rewritten else [],
        "plan": best.name,
        "plans": [each.name for each in made.built],
        "families": dict(Counter(each.family for each in plan.groups)),
        "kernels": cost.kernels,
        "kernels_unfused": made.built[-1].candidate.estimate.kernels,
        "bytes_before": cost.bytes_before,
        "bytes_after": cost.moved_bytes,
        "recompute_ratio": cost.recompute_ratio,
        "seconds_by_model": cost.seconds,
        "seconds_by_model_unfused": made.built[-1].candidate.estimate.seconds,
    }


def _line(row: dict[str, Any]) -> str:
    if "refused" in row:
        return f"{row['id']:>4} refused: {'; '.join(row['refused'])}"
    families = ", ".join(f"{count} {name}" for name, count in row["families"].items())
    ratio = row["bytes_before"] / row["bytes_after"]
    return (
        f"{row['id']:>4} {row['seconds']:5.2f} s  {row['kernels_unfused']:>2} -> "
        f"{row['kernels']:>2} kernels ({families}), traffic / {ratio:.2f}  {' '.join(row['rules'])}"
    )


if __name__ == "__main__":
    main()
