"""Which kernels are handed out: those that the compiler says fit the device."""

from dataclasses import replace

import pytest

from knowledge.load import find_device
from xeforge.app.fusing import Compiler
from xeforge.app.fusing import Fused
from xeforge.app.fusing import choose
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor

DEVICE = find_device("nvidia-h200")
GRAPH = Graph(
    (Tensor("x", (512, 256), "float16", "input"),),
    (Tensor("w", (256, 256), "float16", "parameter", path="lin.weight"),),
    (
        Node("linear", "linear", (Ref("x"), Ref("w")), {}, (512, 256), "float16", 3),
        Node("relu", "relu", (Ref("linear"),), {}, (512, 256), "float16", 4),
    ),
    ("relu",),
    "eval",
)
FILE = SourceFile("ref.py", "class Model: pass")
WORKLOAD = Workload("w", "w", (), (), "float16", {})


@pytest.fixture
def problem():
    return Problem(FILE, FILE, (WORKLOAD,), "nvidia-h200", "cpu")


class Builder:
    """Says of each source in turn how much shared memory it takes."""

    def __init__(self, *sizes):
        self.sizes = list(sizes)
        self.sources = []

    def build(self, _problem, source, _workloads):
        self.sources.append(source)
        size = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        return BuildEvidence((replace(REPORT, shared_bytes=size),))


def chosen(problem, *sizes):
    builder = Builder(*sizes)
    fused = Fused(GRAPH, compile_graph(GRAPH, DEVICE, Options(proofs=False)))
    compiler = Compiler(problem, DEVICE, "eval", Options(), None)
    return builder, fused, choose(compiler, builder, fused, WORKLOAD)


REPORT = BuildReport("k", "w", {}, 4, 3, 32, 0, 0)


def test_the_first_that_fits_is_taken(problem):
    builder, fused, found = chosen(problem, 1000)
    assert found.plan == fused.compilation.built[0].name
    assert found.source == fused.compilation.built[0].source
    assert found.passed_over == ()
    assert len(builder.sources) == 1


def test_other_tiles_are_tried_before_other_plans(problem):
    builder, fused, found = chosen(problem, 300_000, 250_000, 200_000)
    assert found.plan == fused.compilation.built[0].name
    assert found.source == builder.sources[2]
    assert len(set(builder.sources)) == 3
    assert "needs 300,000 bytes of on-chip memory" in found.passed_over[0]


def test_where_nothing_fits_nothing_is_handed_out(problem):
    builder, fused, found = chosen(problem, 10**6)
    assert found is None
    assert len(builder.sources) > len(fused.compilation.built)
