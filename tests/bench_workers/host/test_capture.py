"""One prepare child exports small modules: each operator family, each refusal."""

import textwrap

import pytest

from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import PlatformError
from xeforge.errors import UserError
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph_json import dumps_graph
from xeforge.fusion.front.graph_json import loads_graph
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refused

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
FIRST_LINE = 9  # of a forward body, with a constructor of one line
WIDE = ((4, 6, 8, 8),)
FLAT = ((4, 6),)


@pytest.fixture(scope="module")
def capture(capturing):
    """Return a function that captures a forward body, with an optional constructor body."""

    def run(body, shapes=FLAT, *, init="pass", mode="eval", dtypes=None, cast=None, args="x"):
        kinds = dtypes or ["float32"] * len(shapes)
        names = [each.strip() for each in args.split(",")]
        specs = tuple(map(TensorSpec, names, shapes, kinds))
        text = HEAD + (
            "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            + textwrap.indent(init, "        ")
            + f"\n    def forward(self, {args}):\n"
            + textwrap.indent(body, "        ")
            + "\n"
        )
        workload = Workload("ci[0]", "ci", specs, (), cast, {})
        return capturing.capture(SourceFile("ref.py", text), workload, mode).outcome

    return run


def operators(graph):
    assert isinstance(graph, Graph), graph
    return [each.op for each in graph.nodes]


@pytest.mark.parametrize(
    ("body", "shapes", "expected"),
    [
        ("return F.gelu(x) + F.mish(x) * torch.sigmoid(x)", FLAT, Family.POINTWISE),
        ("return F.hardtanh(torch.clamp(x, min=0.1)) - 1", FLAT, Family.POINTWISE),
        ("return torch.where(x > 0, x, 0.1 * x)", FLAT, Family.POINTWISE),
        ("return x.masked_fill(x.unsqueeze(0)[0] < 0, float('-inf'))", FLAT, Family.POINTWISE),
        ("return torch.matmul(x, x.T)", FLAT, Family.CONTRACTION),
        ("return torch.addmm(x @ x.t(), x, x.transpose(-1, 0))", FLAT, Family.CONTRACTION),
        ("return torch.einsum('ij,kj->ik', x, x)", FLAT, Family.CONTRACTION),
        ("return torch.bmm(x[0], x[0].mT)", WIDE, Family.CONTRACTION),
        ("return F.conv2d(x, x[:, :, :3, :3], padding='same')", WIDE, Family.CONVOLUTION),
        (
            "return F.conv_transpose2d(x, x[:, :, :3, :3].permute(1, 0, 2, 3))",
            WIDE,
            Family.CONVOLUTION,
        ),
        ("return x.sum(1) + x.amax(-1) + torch.logsumexp(x, 1) + x.var(1)", FLAT, Family.REDUCTION),
        ("return torch.max(x, dim=1).values + x.min(dim=1)[0]", FLAT, Family.REDUCTION),
        ("return F.softmax(x, 1) + F.log_softmax(x, dim=1)", FLAT, Family.SOFTMAX),
        ("return F.group_norm(x, 2) + F.instance_norm(x)", WIDE, Family.NORM),
        ("return F.layer_norm(x, [6]) + F.rms_norm(x, [6])", FLAT, Family.NORM),
        ("return F.avg_pool2d(F.max_pool2d(x, 2), 2)", WIDE, Family.POOL),
        ("return F.adaptive_avg_pool2d(x, 1)", WIDE, Family.POOL),
        ("return F.cross_entropy(x, x) + F.mse_loss(x, x)", FLAT, Family.LOSS),
        ("return F.scaled_dot_product_attention(x, x, x, is_causal=True)", WIDE, Family.ATTENTION),
        ("return torch.cat([x, x]).reshape(-1, 3)", FLAT, Family.LAYOUT),
        ("a, b = x.chunk(2, 1); return a * torch.sigmoid(b)", FLAT, Family.LAYOUT),
    ],
)
def test_operators_of_each_family_are_kept_whole(capture, body, shapes, expected):
    graph = capture(body, shapes)
    assert expected in {FAMILIES[each] for each in operators(graph)}
    assert {each.line for each in graph.nodes} == {FIRST_LINE}
    assert loads_graph(dumps_graph(graph)) == graph


def test_a_transposition_is_a_permutation_and_a_cast_names_its_dtype(capture):
    graph = capture("return x.T.half()")
    assert operators(graph) == ["permute", "to"]
    assert graph.nodes[0].args == (Ref("x"), (1, 0))
    assert graph.nodes[1].args == (Ref(graph.nodes[0].name), "float16")
    assert graph.nodes[1].dtype == "float16"


def test_what_changes_nothing_is_left_out(capture):
    body = """
y = x.clone().detach().contiguous().float().view(4, 6).expand(4, 6)
y = F.dropout(y, 0.5, self.training)
unused = torch.sin(y)
return torch.relu(y)
"""
    graph = capture(body)
    assert operators(graph) == ["relu"]
    assert graph.nodes[0].args == (Ref("x"),)


def test_a_write_into_a_result_becomes_a_new_value(capture):
    graph = capture("y = x + 1\nz = F.relu_(y)\ny *= 2\nreturn y + z")
    assert operators(graph) == ["add", "relu", "mul", "add"]
    assert graph.nodes[3].args == (Ref(graph.nodes[2].name), Ref(graph.nodes[2].name))
    assert [each.line for each in graph.nodes] == [9, 10, 11, 12]


def test_a_dtype_of_the_job_casts_the_weights(capture):
    graph = capture(
        "return self.lin(x)", init="self.lin = nn.Linear(6, 3)", dtypes=["float16"], cast="float16"
    )
    assert {each.dtype for each in graph.parameters} == {"float16"}
    assert [each.path for each in graph.parameters] == ["lin.weight", "lin.bias"]


def test_batch_norm_in_train_mode_says_what_it_updates(capture):
    init = "self.norm = nn.BatchNorm1d(6)"
    trained = capture("return self.norm(x)", init=init, mode="train")
    assert {each.removeprefix("b_norm_") for each in trained.updated} == {
        "running_mean",
        "running_var",
        "num_batches_tracked",
    }
    assert operators(trained) == ["batch_norm"]
    assert capture("return self.norm(x)", init=init).updated == ()


def test_a_literal_tensor_keeps_its_value(capture):
    graph = capture("return torch.min(x, torch.tensor(0.5)) + torch.tensor(float('inf'))")
    assert [(each.role, each.value) for each in graph.parameters] == [
        ("constant", 0.5),
        ("constant", float("inf")),
    ]
    assert loads_graph(dumps_graph(graph)) == graph


def test_a_class_target_may_be_an_integer_input(capture):
    graph = capture(
        "return F.cross_entropy(x, y)", ((4, 6), (4,)), dtypes=["float32", "int64"], args="x, y"
    )
    assert operators(graph) == ["cross_entropy_loss"]


def test_a_constructor_that_looks_at_values_is_run_for_real(capture):
    init = "self.scale = nn.Parameter(torch.ones(6) * torch.randn(6).abs().max().item())"
    assert operators(capture("return x * self.scale", init=init)) == ["mul"]


def test_size_costs_nothing(capture):
    graph = capture(
        "return self.lin(x)", ((8, 200_000),), init="self.lin = nn.Linear(200_000, 10_000)"
    )
    assert graph.nodes[0].shape == (8, 10_000)


@pytest.mark.parametrize(
    ("body", "reason", "offset"),
    [
        ("if x.sum() > 0:\n    return x\nreturn -x", Reason.DATA_DEPENDENT, 0),
        ("return x * x.max().item()", Reason.DATA_DEPENDENT, 0),
        ("return x[x > 0]", Reason.DATA_DEPENDENT, 0),
        ("import json\nreturn json.loads('{')", Reason.NOT_EXPORTABLE, 1),
        ("return torch.cumsum(x, 1)", Reason.NOT_COVERED, 0),
        ("return torch.div(x, 2, rounding_mode='floor')", Reason.NOT_COVERED, 0),
        ("return torch.fft.fft(x).abs()", Reason.NOT_COVERED, 0),
        ("return x.max(1)[1]", Reason.DTYPE, 0),
        ("return x.to(torch.int32) * 2", Reason.DTYPE, 0),
        ("return torch.view_as_complex(x.view(4, 3, 2))", Reason.DTYPE, 0),
        ("x += 1\nreturn x", Reason.UPDATED_IN_PLACE, 0),
        ("y = x + 1\ny[:, 0].mul_(2)\nreturn y", Reason.UPDATED_IN_PLACE, None),
        ("y = x + 1\nz = y[0]\ny.relu_()\nreturn y * z", Reason.UPDATED_IN_PLACE, 3),
        ("return x[:, :0]", Reason.EMPTY_TENSOR, 0),
        ("return x[:1, :1].expand(2**16, 2**15 + 1) + 1", Reason.TOO_LARGE, 0),
        ("return x + torch.rand_like(x)", Reason.RANDOM, 0),
        ("return F.dropout(x, 0.5)", Reason.RANDOM, 0),
        ("return x.tolist()", Reason.DATA_DEPENDENT, 0),
        ("return x, 3", Reason.ARGUMENT, None),
    ],
)
def test_obstacles_are_refused_by_reason_and_line(capture, body, reason, offset):
    refused = capture(body)
    assert isinstance(refused, Refused)
    found = {each.reason: each for each in refused.refusals}
    assert reason in found
    assert found[reason].line == (None if offset is None else FIRST_LINE + offset)
    assert found[reason].message
    assert found[reason].remedy


@pytest.mark.parametrize("returned", ["{'a': x * 2}", "(x, (x + 1,))", "[[x]]"])
def test_what_is_no_flat_tuple_of_tensors_is_refused(capture, returned):
    found = capture(f"return {returned}")
    assert isinstance(found, Refused)
    assert found.refusals[0].reason is Reason.ARGUMENT


def test_a_written_input_that_is_read_again_is_refused_with_its_line(capture):
    found = capture("x.mul_(2)\nreturn x + 1")
    assert isinstance(found, Refused)
    assert [each.reason for each in found.refusals] == [Reason.UPDATED_IN_PLACE]
    assert found.refusals[0].line == FIRST_LINE


def test_a_changed_buffer_is_refused(capture):
    init = "self.register_buffer('count', torch.zeros(6))"
    refused = capture("self.count.add_(1)\nreturn x + self.count", init=init)
    assert refused.refusals[0].reason is Reason.UPDATED_IN_PLACE
    assert (refused.refusals[0].operator, refused.refusals[0].line) == ("add_", FIRST_LINE)


def test_live_dropout_is_refused_and_named_in_train_mode_only(capture):
    init = "self.drop = nn.Dropout(0.2)"
    refused = capture("return self.drop(torch.relu(x))", init=init, mode="train")
    only = refused.refusals[0]
    assert (only.reason, only.operator, only.line) == (Reason.RANDOM, "dropout", FIRST_LINE)
    assert operators(capture("return self.drop(torch.relu(x))", init=init)) == ["relu"]


def test_a_tensor_outside_parameters_and_buffers_is_refused(capture):
    refused = capture("return x + self.table", init="self.table = torch.ones(6)")
    assert refused.refusals[0].reason is Reason.HIDDEN_CONSTANT
    assert "table" in refused.refusals[0].message


def test_integer_inputs_are_refused(capture):
    refused = capture("return x + y", (*FLAT, *FLAT), dtypes=["float32", "int32"], args="x, y")
    assert refused.refusals[0].reason is Reason.DTYPE
    assert refused.refusals[0].line == FIRST_LINE


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ("x = torch.rand(4, 6); return [x, x[1:]]", Reason.ALIASED_INPUTS),
        ("return [torch.rand(4, 6), 2]", Reason.ARGUMENT),
        ("return [torch.rand(4, 6), torch.rand(0, 6)]", Reason.EMPTY_TENSOR),
    ],
)
def test_inputs_of_the_file_itself_are_looked_at(capturing, made, reason):
    text = HEAD + (
        "class Model(nn.Module):\n    def forward(self, x, y):\n        return x.sum() * y\n"
        f"def get_inputs():\n    {made}\n"
    )
    workload = Workload("file", "file", (), None, None, {}, from_file=True)
    refused = capturing.capture(SourceFile("ref.py", text), workload, "eval").outcome
    assert {each.reason for each in refused.refusals} == {reason}


def test_code_for_a_device_is_captured_without_one(capture):
    init = "self.lin = nn.Linear(6, 3).cuda()"
    graph = capture("return self.lin(x.to('cuda')) * torch.ones(3, device='cuda')", init=init)
    assert operators(graph) == ["linear", "ones", "mul"]


def test_shared_weights_and_layout_survive_the_cast(capturing):
    text = HEAD + (
        "class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.a = nn.Conv2d(n, n, 1)\n        self.b = nn.Conv2d(n, n, 1)\n"
        "        self.b.weight = self.a.weight\n"
        "    def forward(self, x):\n        return self.b(self.a(x))\n"
    )
    given = (TensorSpec("x", (2, 4, 5, 5), "bfloat16"),)
    workload = Workload("ci[0]", "ci", given, (4,), "bfloat16", {}, memory_format="channels_last")
    graph = capturing.capture(SourceFile("ref.py", text), workload, "eval").outcome
    assert operators(graph) == ["conv2d", "conv2d"]
    assert {each.dtype for each in graph.parameters} == {"bfloat16"}
    assert graph.nodes[0].args[1] == graph.nodes[1].args[1]


def test_arguments_that_do_not_fit_the_constructor_are_the_users_error(capturing):
    text = HEAD + "class Model(nn.Module):\n    def forward(self, x):\n        return x\n"
    workload = Workload("ci[0]", "ci", (TensorSpec("x", (2,), "float32"),), (1, 2), None, {})
    with pytest.raises(UserError, match="takes 1 positional argument"):
        capturing.capture(SourceFile("ref.py", text), workload, "eval")


def test_a_file_that_cannot_be_imported_is_the_users_error(capturing):
    workload = Workload("file", "file", (), None, None, {}, from_file=True)
    with pytest.raises(UserError) as raised:
        capturing.capture(
            SourceFile("ref.py", "import torch\nraise OSError('no')\n"), workload, "eval"
        )
    assert (raised.value.file, raised.value.line) == ("ref.py", 2)


def test_an_answer_that_is_not_of_the_agreed_form_is_a_platform_fault():
    from bench_workers.host.capture import captured

    for answer in ({}, {"inputs": 3}, {"refused": {"reason": "because"}}, []):
        with pytest.raises(PlatformError):
            captured(answer, "eval")
