"""Runs every graph of benchmarks/level2, made small, through the whole compiler.

    python -m benchmarks.fusion.check --out FILE [--mode train] [--language triton]

Each plan of each graph is emitted in float32, as C and run, or as Triton and run in its interpreter
(minutes a graph where there are convolutions), and compared with what the captured graph means in
float64 before any rewrite.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from typing import cast

import numpy as np

from bench_workers.host.capture import Capturing
from benchmarks.level2.capture import workload_of
from benchmarks.level2.capturing import capturing
from benchmarks.level2.load import OperatorGraph
from benchmarks.level2.load import load_graphs
from benchmarks.level2.load import source
from knowledge.load import find_device
from xeforge.domain.submission import SourceFile
from xeforge.errors import UserError
from xeforge.errors import XeForgeError
from xeforge.fusion.algebra.engine import rewrite
from xeforge.fusion.algebra.proof import outputs_of
from xeforge.fusion.algebra.proof import random_values
from xeforge.fusion.algebra.shrink import shrunk
from xeforge.fusion.algebra.work import JOINED
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.emit.c.build import build
from xeforge.fusion.emit.c.load import load
from xeforge.fusion.emit.c.load import numpy_dtype
from xeforge.fusion.emit.c.source import emit as emit_c
from xeforge.fusion.emit.c.target import this_machine
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.fuse import roundings
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.search import search
from xeforge.fusion.lower.program import lower

TOLERANCE = 1e-4
"""Largest error that is right, in units of an output's largest value."""


def main() -> int:
    """Check all graphs; 0 when none is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mode", choices=("eval", "train"), default="eval")
    parser.add_argument("--language", choices=("c", "triton"), default="c")
    parser.add_argument("--only", type=int, action="append", default=[])
    options = parser.parse_args()
    rows = []
    with capturing() as opened, tempfile.TemporaryDirectory(prefix="check-") as scratch:
        for graph in load_graphs():
            if options.only and graph.id not in options.only:
                continue
            row = {"id": graph.id, **_checked(opened, graph, options, Path(scratch))}
            rows.append(row)
            print(json.dumps(row), flush=True)
    kinds = ("right", "wrong", "not_checked", "refused")
    summary = {kind: sum(kind in each for each in rows) for kind in kinds}
    record = {"format": 1, "mode": options.mode, "summary": summary, "rows": rows}
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary))
    return 1 if summary["wrong"] else 0


def _checked(
    opened: Capturing, graph: OperatorGraph, options: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    file = SourceFile(f"graph_{graph.id}.py", source(graph))
    found = opened.capture(file, workload_of(graph), cast("Mode", options.mode)).outcome
    if not isinstance(found, Graph):
        return {"refused": found.refusals[0].message}
    try:
        small = shrunk(found)
    except XeForgeError as error:
        return {"not_checked": str(error)}
    values = random_values(small, graph.id)
    wanted = outputs_of(small, values)
    errors = {}
    try:
        run = _in_c if options.language == "c" else _in_triton
        for name, got in run(small, values, folder, f"graph_{graph.id}_{options.mode}"):
            errors[name] = _error(got, wanted)
    except UserError as error:
        return {"refused": str(error)}
    kind = "right" if all(each <= TOLERANCE for each in errors.values()) else "wrong"
    return {kind: errors}


def _in_c(
    graph: Graph, values: dict[str, Any], folder: Path, _name: str
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the outputs of each plan, computed by its library."""
    program = lower(rewrite(graph, model=JOINED, is_measured=False).after)
    arrays = program.arrays_by_name()
    given = {
        name: np.asarray(values[name], numpy_dtype(each.dtype), order="C")
        for name, each in arrays.items()
        if each.role in {"input", "parameter"}
    }
    for found in search(program, CPU):
        made = emit_c(roundings.run(found.plan), this_machine())
        outputs = load(build(made, folder=folder), made)(given)
        yield found.name, [np.asarray(outputs[name], np.float64) for name in program.outputs]


def _in_triton(
    graph: Graph, values: dict[str, Any], folder: Path, name: str
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the outputs of each plan, computed by its file."""
    import torch  # noqa: PLC0415  after that

    from benchmarks.fusion import emitted  # noqa: PLC0415  chooses the interpreter

    made = compile_graph(graph, find_device("nvidia-h200"), Options(proofs=False))
    tensors = (*graph.inputs, *graph.parameters)
    given = {
        each.name: torch.tensor(values[each.name], dtype=getattr(torch, each.dtype))
        for each in tensors
        if each.value is None
    }
    paths = {each.name: each.path for each in graph.parameters if each.value is None}
    for built in made.built:
        yield built.name, emitted.run(built.source, folder, f"{name}_{built.name}", given, paths)


def _error(found: list[Any], wanted: list[Any]) -> float:
    """Return the largest error of all outputs, each in units of its largest value."""
    most = 0.0
    for got, want in zip(found, wanted, strict=True):
        if got.shape != want.shape or np.isnan(got).any() != np.isnan(want).any():
            return float("inf")
        scale = max(float(np.abs(want).max()), 1e-30)
        most = max(most, float(np.abs(got - want).max()) / scale)
    return most


if __name__ == "__main__":
    raise SystemExit(main())
