import pytest

from tests.xeforge.propose.conftest import make_workload
from xeforge.domain.problem import Workload
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_values import follow_forward
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.syntax_tree import text

FILE = """
import torch
import triton

BLOCK = 32
TABLE = (1, 2, 3)


def helper(a, rows=4):
    return a.view(-1, rows)


class Model(torch.nn.Module):
    def __init__(self, width, eps=1e-5, names=()):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width, 8) * width**-0.5)
        self.steps = torch.zeros(3, dtype=torch.int32)
        self.width, self.eps = width, eps

    def scaled(self, x):
        return x.half()

    def forward(self, x, y):
        {}


def get_inputs():
    return [torch.rand(6, 4) for _ in range(2)]


def get_init_inputs():
    return [16]
"""


def value_of(expression, *, before="pass", shapes=((6, 4), (4, 6)), **changes):
    body = f"{before}\n        return {expression}"
    workload = make_workload(*shapes, **{"init_args": (16,), **changes})
    return follow_forward(parse_tree(FILE.format(body)), workload).returned


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x.shape", (6, 4)),
        ("x.shape[-1]", 4),
        ("x.size(0) * y.size(-1)", 36),
        ("x.numel()", 24),
        ("x.stride(0), x.t().stride(0)", (4, 1)),
        ("triton.cdiv(x.numel(), BLOCK)", 1),
        ("triton.next_power_of_2(y.shape[1])", 8),
        ("TABLE[1:]", (2, 3)),
        ("self.width // 3", 5),
        ("self.eps", 1e-5),
        ("self.weight.shape", (16, 8)),
        ("x.dtype", "float16"),
        ("self.steps.dtype", "int32"),
        ("torch.float32", "float32"),
        ("x.float().dtype", "float32"),
        ("self.scaled(x).dtype", "float16"),
        ("helper(x).shape", (6, 4)),
        ("helper(x, rows=2).shape", (12, 2)),
        ("x.is_contiguous(), x.t().is_contiguous()", (True, False)),
        ("x.t().contiguous().stride()", (6, 1)),
        ("torch.empty(2, 3, dtype=x.dtype).stride()", (3, 1)),
        ("torch.empty((2, 3)).dtype", "float32"),
        ("torch.zeros_like(x).dtype", "float16"),
        ("x.new_empty((2, 2)).dtype", "float16"),
        ("4 if x.shape[0] > 5 else 8", 4),
        ("not x.is_contiguous()", False),
        ("-BLOCK", -32),
        ("[*x.shape, 1]", (6, 4, 1)),
        ("mystery(x)", None),
        ("x.shape[0] / 0", None),
        ("x.shape[7]", None),
        ("x + y", HostTensor()),
        ("'text'", "text"),
    ],
)
def test_expressions_are_worked_out(expression, expected):
    assert value_of(expression) == expected


def test_parameters_follow_the_format_of_the_workload():
    assert value_of("self.weight.dtype") == "float16"
    assert value_of("self.weight.dtype", dtype="bfloat16") == "bfloat16"
    assert value_of("self.weight.dtype", dtype=None, dtypes=["float16"] * 2) == "float32"


def test_names_follow_the_flow_of_statements():
    assert value_of("n", before="n = x.shape[0]; n = n + 1") == 7
    assert value_of("a, b", before="a, b = x.shape") == (6, 4)
    assert value_of("n", before="n = 1; n += 1") is None
    decided = "if x.shape[0] > 5:\n            n = 1\n        else:\n            n = 2"
    assert value_of("n", before=decided) == 1
    open_end = "if mystery():\n            n = 1\n        else:\n            n = 2"
    assert value_of("n", before=open_end) is None
    agreed = "if mystery():\n            n = 2\n        else:\n            n = 2"
    assert value_of("n", before=agreed) == 2
    loop = "n = 1\n        for i in range(3):\n            n = n * 2"
    assert value_of("n", before=loop) is None


def test_a_result_that_depends_on_the_path_is_unknown():
    early = "if mystery():\n            return 1"
    assert value_of("2", before=early) is None


def test_inputs_of_the_file_itself_are_used_without_a_spec():
    workload = Workload("file[0]", "file", (), None, None, {}, from_file=True)
    body = "return x.shape, x.dtype, self.width"
    facts = follow_forward(parse_tree(FILE.format(body)), workload)
    assert facts.returned == ((6, 4), "float32", 16)


def test_unusual_layouts_are_not_taken_for_contiguous():
    body = "return x.is_contiguous()"
    workload = make_workload((2, 3, 4, 4), (4, 6), init_args=(16,), memory_format="channels_last")
    assert follow_forward(parse_tree(FILE.format(body)), workload).returned is None


def test_values_are_kept_for_every_expression():
    tree = parse_tree(FILE.format("n = x.numel(); return n + self.width"))
    facts = follow_forward(tree, make_workload((6, 4), (4, 6), init_args=(16,)))
    by_text = {text(node): value for node, value in facts.values.items()}
    assert by_text["x.numel()"] == 24
    assert by_text["n+self.width"] == 40
    assert facts.value(None) is None


def test_a_file_without_a_model_has_no_values():
    facts = follow_forward(parse_tree("x = 1\n"), make_workload((6, 4), (4, 6)))
    assert facts.returned is None
    assert not facts.values
