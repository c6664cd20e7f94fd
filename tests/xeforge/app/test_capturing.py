"""The port that exports references: one child, started late, whose faults are refusals."""

from contextlib import ExitStack

import pytest

from xeforge.app.capturing import ReferenceCapture
from xeforge.app.capturing import open_capture
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import UserError
from xeforge.fusion.front.graph_json import loads_graph
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused

WORKLOAD = Workload("w", "w", (TensorSpec("X", (4, 8), "float32"),), (), "float32", {})
REFERENCE = SourceFile(
    "ref.py",
    "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
    "        return torch.relu(x)\n",
)
BROKEN = SourceFile("broken.py", "import nothing_of_that_name\n")


class Child:
    """Answers with an outcome, or raises it."""

    def __init__(self, outcome):
        self.outcome = outcome
        self.is_closed = False

    def capture(self, *_):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self

    def close(self):
        self.is_closed = True


def answer(child):
    port = ReferenceCapture("none", ExitStack())
    port._capturing = child
    return port.capture(REFERENCE, WORKLOAD, "eval")


def test_refusals_become_lines():
    refusals = (
        Refusal(Reason.NOT_COVERED, "no such operator", line=7),
        Refusal(Reason.NOT_COVERED, "b"),
    )
    found = answer(Child(Refused(refusals)))
    assert found.graph == ""
    assert found.refused == (
        f"{Reason.NOT_COVERED} line 7: no such operator",
        f"{Reason.NOT_COVERED}: b",
    )


def test_a_file_that_cannot_be_used_is_a_refusal_and_ends_the_child():
    child = Child(UserError("it raises", file="ref.py", line=3))
    found = answer(child)
    assert "it raises" in found.refused[0]
    assert child.is_closed


@pytest.mark.slow
def test_a_reference_is_exported_and_the_port_survives_a_broken_one():
    from bench_workers.sandbox.layers import best_layer

    with open_capture(best_layer()) as port:
        assert "nothing_of_that_name" in port.capture(BROKEN, WORKLOAD, "train").refused[0]
        graph = loads_graph(port.capture(REFERENCE, WORKLOAD, "train").graph)
    assert [each.op for each in graph.nodes] == ["relu"]
    assert graph.inputs[0].shape == (4, 8)
