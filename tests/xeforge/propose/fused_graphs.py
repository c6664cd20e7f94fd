"""A linear layer with ReLU and its mean over a row, as graphs at any sizes, and kernels of it."""

from dataclasses import replace

from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph_json import dumps_graph
from xeforge.ports import Captured

KERNEL = '''import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, y_ptr, factor, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count)
    tl.store(y_ptr + at, tl.maximum(x, 0.0) * factor, mask=at < count)


class Model(nn.Module):
    """A linear layer, then a ReLU."""

    def __init__(self, width, factor=2.0):
        super().__init__()
        self.lin = nn.Linear(width, width, bias=False)
        self.factor = factor

    def forward(self, rows):
        """Return the answer."""
        y = torch.nn.functional.linear(rows, self.lin.weight)
        relu_kernel[(y.numel() // 16,)](y, y, self.factor, y.numel(), BLOCK=16)
        return y
'''


def workload(rows=8192, width=4096, *, name="bench[0]", factor=2.0, **more):
    """Return a workload of the layer."""
    spec = TensorSpec("X", (rows, width), "float16", dims=("R", "W"))
    dims = {"R": rows, "W": width, "F": factor}
    made = Workload(name, "bench", (spec,), (width, factor), "float16", dims, ("W", "F"))
    return replace(made, **more)


def problem(*workloads, kernel=KERNEL, reference="class Model: ..."):
    """Return a job's question with these timed workloads."""
    given = None if reference is None else SourceFile("ref.py", reference)
    file = SourceFile("kernel.py", kernel)
    return Problem(file, given, workloads or (workload(),), "nvidia-h200", "cpu")


def graph(workload, mode="train"):
    """Return the graph of the layer at the shapes of a workload."""
    (rows, width), factor = workload.inputs[0].shape, workload.init_args[1]
    shape, dtype = (rows, width), "float16"
    return Graph(
        (Tensor("x", shape, dtype, "input"),),
        (Tensor("w", (width, width), dtype, "parameter", path="lin.weight"),),
        (
            Node("linear", "linear", (Ref("x"), Ref("w")), {}, shape, dtype, 3),
            Node("relu", "relu", (Ref("linear"),), {}, shape, dtype, 4),
            Node("mul", "mul", (Ref("relu"), factor), {}, shape, dtype, 5),
        ),
        ("mul",),
        mode,
    )


class Exporter:
    """Stands for the child that captures.

    Args:
        change: Of graphs, as captured.
        refused: Answer in place of any graph.
    """

    def __init__(self, change=lambda graph: graph, refused=()):
        self.change = change
        self.refused = refused
        self.asked = []

    def capture(self, file, workload, mode):
        self.asked.append((file.path, workload.name, mode))
        if self.refused:
            return Captured("", self.refused)
        return Captured(dumps_graph(self.change(graph(workload, mode))))
