"""The file that a user gets, imported and run."""

import ast
import importlib.util

import pytest
import torch

from tests.xeforge.fusion.emit.c.programs import TARGET
from tests.xeforge.fusion.emit.c.programs import fused
from xeforge.errors import BadRequest
from xeforge.fusion.emit.c.module import write_module
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.lower.program import lower

TENSORS = (
    Tensor("x", (7, 12), "float32", "input"),
    Tensor("p_net_0_weight", (9, 12), "float32", "parameter", path="net.0.weight"),
    Tensor("p_net_0_bias", (9,), "float32", "parameter", path="net.0.bias"),
    Tensor("b_scale", (9,), "float32", "buffer", path="scale"),
)


class Reference(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(12, 9))
        self.register_buffer("scale", torch.rand(9))

    def forward(self, x):
        scaled = torch.nn.functional.gelu(self.net(x)) * self.scale
        return scaled, scaled.softmax(1)


def graph():
    x, weight, bias, scale = map(Ref, (each.name for each in TENSORS))
    nodes = (
        Node("product", "linear", (x, weight, bias), {}, (7, 9), "float32"),
        Node("bent", "gelu", (Ref("product"),), {}, (7, 9), "float32"),
        Node("scaled", "mul", (Ref("bent"), scale), {}, (7, 9), "float32"),
        Node("soft", "softmax", (Ref("scaled"), 1), {}, (7, 9), "float32"),
    )
    return Graph(TENSORS[:1], TENSORS[1:], nodes, ("scaled", "soft"), "eval")


@pytest.fixture(scope="module")
def text():
    return write_module(fused(lower(graph())), TARGET, TENSORS)


@pytest.fixture
def module(text, tmp_path, monkeypatch):
    monkeypatch.setenv("XEFORGE_HOME", str(tmp_path))
    written = tmp_path / "written_model.py"
    written.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("written_model", written)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_it_imports_nothing_of_ours(text):
    imported = {
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert "torch" in imported
    assert not any(name.startswith("xeforge") for name in imported)


def test_it_computes_what_the_reference_does_with_its_state(module, tmp_path):
    reference = Reference()
    model = module.Model()
    model.load_state_dict(reference.state_dict())
    assert set(model.state_dict()) == {"net.0.weight", "net.0.bias", "scale"}
    x = torch.randn(12, 7).t()
    for found, wanted in zip(model(x), reference(x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    assert len(list((tmp_path / "fusion_c").glob("*.so"))) == 1
    assert not list((tmp_path / "fusion_c").glob("tmp*"))


def test_other_shapes_dtypes_and_counts_are_refused(module):
    model = module.Model()
    with pytest.raises(TypeError, match="7, 11"):
        model(torch.rand(7, 11))
    with pytest.raises(TypeError, match="float64"):
        model(torch.rand(7, 12, dtype=torch.float64))
    with pytest.raises(TypeError, match="0 inputs are given"):
        model()


def test_a_processor_without_the_instructions_is_refused(module, monkeypatch):
    monkeypatch.setattr(module, "NEEDS", ("avx9",))
    with pytest.raises(RuntimeError, match="lacks avx9"):
        module.Model()


def test_a_machine_without_a_compiler_is_told_what_to_install(module, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="apt-get install gcc"):
        module.Model()


def test_a_constant_without_values_is_refused():
    nameless = (*TENSORS[:3], Tensor("b_scale", (9,), "float32", "constant"))
    with pytest.raises(BadRequest, match="b_scale"):
        write_module(fused(lower(graph())), TARGET, nameless)
