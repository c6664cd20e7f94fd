"""`xeforge fuse` as a user types it: it explains, and does not pretend."""

import json

import pytest

from xeforge.app.fuse import NOT_YET
from xeforge.app.fuse import _as_data
from xeforge.fusion.front.graph_json import load_graph
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused

REFERENCE = """import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(6, 3)
    def forward(self, x):
        return {body}

def get_inputs():
    return [torch.rand(4, 6)]
"""


@pytest.fixture
def reference(tmp_path):
    def write(body):
        path = tmp_path / "ref.py"
        path.write_text(REFERENCE.format(body=body))
        return path

    return write


def test_explaining_prints_operators_lines_and_that_nothing_is_written(xeforge, reference):
    done = xeforge("fuse", reference("torch.relu(self.lin(x)) * 2"), "--explain")
    assert done.code == 3
    assert "3 operators captured" in done.out
    assert "line    8 linear = linear(x, p_lin_weight, p_lin_bias): float32[4, 3]" in done.out
    assert "returns mul" in done.out
    assert NOT_YET in done.out


def test_a_refusal_names_reason_line_and_remedy(xeforge, reference):
    done = xeforge("fuse", reference("torch.cumsum(self.lin(x), 1)"))
    assert done.code == 3
    assert "refused" in done.out
    assert "not_covered line 8: the operator cumsum is not covered" in done.out
    assert "remedy: " in done.out


def test_json_holds_the_graph(xeforge, reference):
    done = xeforge("fuse", reference("self.lin(x)"), "--json", "--mode", "train")
    found = json.loads(done.out)
    assert done.code == 3
    assert load_graph(found["file"]["graph"]).mode == "train"


def test_json_holds_the_refusals():
    refusal = Refusal(Reason.DTYPE, "the result of max is int64", "max", 8)
    assert _as_data(Refused((refusal,))) == {
        "refused": [
            {
                "reason": "dtype",
                "message": "the result of max is int64",
                "operator": "max",
                "line": 8,
                "remedy": refusal.remedy,
            }
        ]
    }


def test_an_unknown_mode_is_bad_input(xeforge, reference):
    done = xeforge("fuse", reference("x"), "--mode", "both")
    assert done.code == 2
    assert "unknown mode 'both'" in done.said


def test_a_file_without_a_model_is_bad_input(xeforge, tmp_path):
    path = tmp_path / "ref.py"
    path.write_text("import torch\n")
    assert xeforge("fuse", path).code == 2
