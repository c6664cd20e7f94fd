"""`xeforge fuse` as a user types it: kernels are verified before they are handed out."""

import json

import pytest

from xeforge.app.fuse import _as_data
from xeforge.app.fuse import _refuse_wrong
from xeforge.app.fusing import Outcome
from xeforge.app.fusing import Verification
from xeforge.domain.evidence import Finding
from xeforge.errors import PlatformError
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


def test_kernels_are_verified_explained_and_written(xeforge, reference, tmp_path):
    out = tmp_path / "fused.py"
    path = reference("torch.relu(self.lin(x)) * 2")
    done = xeforge("fuse", path, "--device", "cpu", "-o", out, "--explain")
    assert done.code == 6
    assert "3 operators captured" in done.out
    assert "line    8 linear = linear(x, p_lin_weight, p_lin_bias): float32[4, 3]" in done.out
    assert "returns mul" in done.out
    assert "kernel linear_product (contraction)" in done.out
    assert "plan fused: 1 kernels" in done.out
    assert "ESTIMATE" in done.out
    assert "right on 1 cases at 1 shapes, in Triton's interpreter" in done.out
    assert f"written to {out}" in done.out
    text = out.read_text()
    assert "@triton.jit" in text
    assert "def get_inputs():" in text


def test_modules_without_parameters_and_inner_functions_may_go(xeforge, tmp_path):
    path = tmp_path / "ref.py"
    text = REFERENCE.format(body="scaled(self.act(self.lin(x)))")
    text = text.replace(
        "torch.nn.Linear(6, 3)", "torch.nn.Linear(6, 3); self.act = torch.nn.ReLU()"
    )
    path.write_text(f"{text}\ndef scaled(x):\n    return 2 * x\n")
    done = xeforge("fuse", path, "--device", "cpu")
    assert done.code == 6, done.err


def test_outputs_that_are_not_dense_are_refused(xeforge, reference):
    done = xeforge("fuse", reference("torch.relu(self.lin(x)).t()"), "--device", "cpu")
    assert done.code == 3
    assert "kernels return dense outputs only" in done.out
    assert "strides" in done.out


def test_a_loss_is_one_number(xeforge, reference):
    done = xeforge("fuse", reference("torch.mean(self.lin(x) ** 2)"), "--device", "cpu")
    assert done.code == 6, done.out


def test_c_is_written_for_a_processor_and_run(xeforge, tmp_path):
    path, out = tmp_path / "ref.py", tmp_path / "fused.py"
    text = REFERENCE.format(body="torch.softmax(self.lin(x), 1)")
    unread = "; self.unread = torch.nn.Linear(2, 2)"
    path.write_text(text.replace("torch.nn.Linear(6, 3)", f"torch.nn.Linear(6, 3){unread}"))
    done = xeforge("fuse", path, "--device", "cpu", "--target", "generic-cpu", "-o", out)
    assert done.code == 6, done.err
    assert "right on 1 cases at 1 shapes, by running them here" in done.out
    written = out.read_text()
    assert "SOURCE = " in written
    assert "unread.weight" in written
    assert "def get_inputs():" in written


def test_a_module_is_verified_in_the_mode_that_is_compiled(xeforge, reference):
    body = "torch.nn.functional.dropout(self.lin(x), 0.5, self.training)"
    assert xeforge("fuse", reference(body), "--device", "cpu").code == 6
    done = xeforge("fuse", reference(body), "--device", "cpu", "--mode", "train")
    assert done.code == 3
    assert "random line 8" in done.out


def test_a_refusal_names_reason_line_and_remedy(xeforge, reference):
    done = xeforge("fuse", reference("torch.cumsum(self.lin(x), 1)"))
    assert done.code == 3
    assert "refused" in done.out
    assert "not_covered line 8: the operator cumsum is not covered" in done.out
    assert "remedy: " in done.out


def test_json_holds_graph_plans_and_what_was_verified(xeforge, reference):
    path = reference("torch.tanh(self.lin(x))")
    done = xeforge("fuse", path, "--device", "cpu", "--json", "--mode", "train", "--no-fusion")
    found = json.loads(done.out)["file"]
    assert done.code == 6
    assert load_graph(found["graph"]).mode == "train"
    assert [each["name"] for each in found["plans"]] == ["unfused"]
    assert found["verified"]["cases"] == 1
    assert found["chosen"]["plan"] == "unfused"
    assert found["chosen"]["source"] == found["plans"][0]["source"]
    assert found["verified"]["wrong"] == []


def test_without_matrix_units_no_contraction_is_made(xeforge, reference):
    path = reference("self.lin(x)")
    options = ("--device", "cpu", "--no-matrix-units", "--no-algebra", "--json")
    plans = json.loads(xeforge("fuse", path, *options).out)["file"]["plans"]
    assert all("tl.dot" not in each["source"] for each in plans)


def test_wrong_kernels_are_a_fault_of_ours_and_not_written():
    wrong = Finding("incorrect", passed=False, message="3 of 12 wrong")
    outcome = Outcome(Refused(()), None, Verification(1, 1, (wrong,)))
    with pytest.raises(PlatformError, match="3 of 12 wrong"):
        _refuse_wrong({"file": outcome})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mode", "both"), "unknown mode 'both'"),
        (("--precision", "fp8"), "no float32 products as fp8"),
        (("--target", "intel-b580"), "no kernels are emitted for intel-b580"),
        (("--target", "nvidia-z1"), "nvidia-z1"),
        (("--target", "generic-cpu", "--precision", "tf32"), "no float32 products as tf32"),
        (("-o", "/proc/none/out.py"), "/proc/none"),
    ],
)
def test_options_that_cannot_be_met_are_bad_input(xeforge, reference, options, words):
    done = xeforge("fuse", reference("self.lin(x)"), "--device", "cpu", *options)
    assert done.code == 2
    assert words in done.said


def test_json_holds_the_refusals():
    refusal = Refusal(Reason.DTYPE, "the result of max is int64", "max", 8)
    assert _as_data(Outcome(Refused((refusal,)))) == {
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


def test_a_file_without_a_model_is_bad_input(xeforge, tmp_path):
    path = tmp_path / "ref.py"
    path.write_text("import torch\n")
    assert xeforge("fuse", path).code == 2
