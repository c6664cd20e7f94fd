"""A captured graph, replayed operator by operator, gives what the module gives."""

import textwrap

import pytest

from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Ref

SHAPE = (4, 6, 8, 8)
LAYERS = """
self.conv = nn.Conv2d(6, 8, 3, padding=1)
self.norm = nn.BatchNorm2d(8)
self.relu = nn.ReLU(inplace=True)
self.drop = nn.Dropout(0.0)
self.lin = nn.Linear(8, 5)
self.scale = nn.Parameter(torch.rand(8, 1, 1))
"""
BODIES = {
    "layers": "return self.relu(self.norm(self.conv(x))) * self.scale",
    "writes": """
        y = self.conv(x)
        z = y.detach()
        y += 1
        kept = y.clone()
        y.mul_(2)
        return y + z + kept
    """,
    "idle": """
        y = self.drop(self.conv(x)).contiguous().float()
        return y.flatten(1).view(4, 8, 8, 8)
    """,
    "turns": """
        y = self.lin(self.conv(x).permute(0, 2, 3, 1))
        return y.transpose(1, -1) @ y.mT.swapaxes(1, 2) + y[0, 0].t().sum()
    """,
    "several": """
        y = self.conv(x)
        v, _ = y.max(1)
        return v + y.min(dim=2).values.sum(1, keepdim=True), v
    """,
    "losses": """
        far = F.mse_loss(self.conv(x), self.scale.expand(4, 8, 8, 8))
        return far + F.smooth_l1_loss(x, x * 2)
    """,
    "scalars": "return torch.min(x, torch.tensor(0.25)) + 1 - torch.rsub(x, 3) ** 2",
    "same": "return x.clone()",
    "casts": "y = x.half(); return (y.float() + y.type_as(x)).to(torch.bfloat16)",
    "masks": """
        kept = (x > 0.5) & ~(x < 0.8) | (x < 0.1)
        return torch.where(kept, x, -x).masked_fill(x.ge(0.9), 7.0)
    """,
}


def text_of(body):
    return (
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + textwrap.indent(LAYERS.strip(), "        ")
        + "\n    def forward(self, x):\n"
        + textwrap.indent(textwrap.dedent(body).strip(), "        ")
        + "\n"
    )


def replay(graph, state, x):
    """Compute a graph with one call of ATen per node."""
    import torch

    values = {graph.inputs[0].name: x}
    for tensor in graph.parameters:
        is_constant = tensor.role == "constant"
        dtype = getattr(torch, tensor.dtype)
        values[tensor.name] = (
            torch.tensor(tensor.value, dtype=dtype) if is_constant else state[tensor.path]
        )

    def real(argument):
        if isinstance(argument, Ref):
            return values[argument.name]
        if isinstance(argument, tuple):
            return [real(each) for each in argument]
        is_dtype = isinstance(argument, str) and isinstance(
            getattr(torch, argument, 0), torch.dtype
        )
        return getattr(torch, argument) if is_dtype else argument

    for node in graph.nodes:
        operator = getattr(torch.ops.aten, node.op)
        named = {key: real(each) for key, each in node.kwargs.items()}
        result = operator(*map(real, node.args), **named)
        values[node.name] = result if node.index is None else result[node.index]
        assert tuple(values[node.name].shape) == node.shape
        assert str(values[node.name].dtype) == f"torch.{node.dtype}"
    return [values[name] for name in graph.outputs]


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("name", BODIES)
def test_a_replayed_graph_gives_the_values_of_the_module(capturing, name, mode):
    import torch

    text = text_of(BODIES[name])
    workload = Workload("ci[0]", "ci", (TensorSpec("x", SHAPE, "float32"),), (), None, {})
    graph = capturing.capture(SourceFile("ref.py", text), workload, mode).outcome
    assert isinstance(graph, Graph), graph
    namespace = {}
    exec(text, namespace)
    torch.manual_seed(3)
    model = namespace["Model"]().train(mode == "train")
    x = torch.rand(SHAPE)
    with torch.no_grad():
        state = {key: each.clone() for key, each in model.state_dict().items()}
        expected = model(x.clone())
        got = replay(graph, state, x)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, theirs)
