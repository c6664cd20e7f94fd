"""Captures every graph in train and in eval mode; prints what is captured, what refused, and why.

Run as ``python -m benchmarks.level2.capture [--out capture.json]``.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from bench_workers.host.capture import Capturing
from benchmarks.level2.capturing import capturing
from benchmarks.level2.load import OperatorGraph
from benchmarks.level2.load import load_graphs
from benchmarks.level2.load import source
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode


@dataclass(frozen=True, slots=True)
class Row:
    """One graph in one mode.

    Attributes:
        id, mode: Which.
        operators: Of the captured graph; empty when refused.
        refusals: Reason, operator, line and message of each; empty when captured.
        updated: Buffers that the module updates beside its outputs.
        shapes: Of the captured operators' results.
        seconds: From handing over the file to having the graph.
    """

    id: int
    mode: str
    operators: tuple[str, ...]
    refusals: tuple[str, ...]
    updated: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    seconds: float


def workload_of(graph: OperatorGraph) -> Workload:
    """Return a graph's shapes as a workload in float32."""
    inputs = tuple(TensorSpec(name, shape, "float32") for name, shape in graph.inputs.items())
    return Workload("level2", "level2", inputs, (), None, {})


def rows(opened: Capturing, mode: Mode) -> Iterator[Row]:
    """Yield a row per graph."""
    for graph in load_graphs():
        started = time.monotonic()
        file = SourceFile(f"graph_{graph.id}.py", source(graph))
        found = opened.capture(file, workload_of(graph), mode).outcome
        seconds = time.monotonic() - started
        if isinstance(found, Graph):
            operators = tuple(each.op for each in found.nodes)
            shapes = tuple(each.shape for each in found.nodes)
            yield Row(graph.id, mode, operators, (), found.updated, shapes, seconds)
        else:
            words = tuple(
                f"{each.reason}: {each.message} (line {each.line})" for each in found.refusals
            )
            yield Row(graph.id, mode, (), words, (), (), seconds)


def main() -> None:
    """Capture, print, and write the record if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the rows as JSON here")
    options = parser.parse_args()
    with capturing() as opened:
        found = [row for mode in get_args(Mode) for row in rows(opened, mode)]
    for row in found:
        said = "; ".join(row.refusals) or " ".join(row.operators)
        kind = "REFUSED " if row.refusals else "captured"
        print(f"{row.id:3} {row.mode:5} {kind} {row.seconds:6.3f} s  {said}")
    for mode in get_args(Mode):
        mine = [row for row in found if row.mode == mode]
        refused = sum(bool(row.refusals) for row in mine)
        total = sum(row.seconds for row in mine)
        print(f"{mode}: {len(mine) - refused} captured, {refused} refused, {total:.1f} s together")
    if options.out is not None:
        text = json.dumps([asdict(row) for row in found], indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
