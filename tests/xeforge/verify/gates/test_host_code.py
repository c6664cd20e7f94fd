"""Arithmetic outside kernels may stay and move, but not grow."""

import pytest

from xeforge.domain.verdict import Reason

BODY = "        y = torch.empty_like(x)\n"


def adding(ask, code):
    body = "".join(f"        {each}\n" for each in code.splitlines())
    found = ask((BODY, body + BODY))
    assert not any(each.check == "syntax" for each in found)
    return [each for each in found if each.check == "host_code"]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("z = torch.mm(x, x)", "torch.mm"),
        ("z = torch.matmul(x, x)", "torch.matmul"),
        ("z = F.gelu(x)", "torch.nn.functional.gelu"),
        ("z = torch.nn.functional.softmax(x)", "torch.nn.functional.softmax"),
        ("z = x @ x", "@"),
        ("x @= x", "@"),
        ("z = x.matmul(x)", ".matmul"),
        ("z = x.t().softmax(-1)", ".softmax"),
        ("z = self.linear(x)", "self.linear"),
        ("z = super().forward(x)", "super().forward"),
        ("z = torch.ops.aten.mm(x, x)", "torch.ops.aten.mm"),
        ("f = torch.compile(prepare)", "torch.compile"),
        ("z = torch.linalg.norm(x)", "torch.linalg.norm"),
        ("z = getattr(torch, 'mm')(x, x)", "torch.mm"),
        ("z = torch.Tensor.softmax(x, -1)", "torch.Tensor.softmax"),
        ("op = torch.mm", "torch.mm"),
        ("ops = [torch.softmax]", "torch.softmax"),
        ("op = torch.ops.aten.mm", "torch.ops.aten.mm"),
        ("act = F.relu6", "torch.nn.functional.relu6"),
        ("z = x.cpu().numpy() * 2", ".numpy"),
        ("z = x.addmm_(x, x, beta=0)", ".addmm_"),
        ("z = nn.Softmax(-1)(x)", "torch.nn.Softmax"),
        ("z = self.linear.forward(x)", "self.linear"),
        ("f = x.softmax\nz = f(-1)", ".softmax"),
        ("match x:\n    case object(softmax=f):\n        z = f(-1)", ".softmax"),
        ("f = torch.group_norm", "torch.group_norm"),
        ("z = torch.compiler.compile(x)", "torch.compiler.compile"),
        ("kept = [nn.Softmax]", "torch.nn.Softmax"),
        ("class S(nn.Softmax):\n    pass", "torch.nn.Softmax"),
        ("f = torch.nn.attention.flex_attention", "torch.nn.attention.flex_attention"),
        ("def k(z):\n    return z.mm(z)\nj = triton.jit(k)\nz = [k][0](x)", ".mm"),
        ("z = nn.Parameter.matmul(x, x)", "torch.nn.Parameter.matmul"),
        ("@triton.jit\ndef k(z):\n    return torch.mm(z, z)", "torch.mm"),
        ("def k(z):\n    return z.mm(z)\nj = triton.jit(k)\nz = k(x)", ".mm"),
        ("@torch.compile\ndef f(z):\n    return z", "torch.compile"),
    ],
)
def test_new_arithmetic_is_refused(ask, code, name):
    (found,) = adding(ask, code)
    assert found.reason == Reason.NO_CUSTOM_KERNEL
    assert f"computes with {name} " in found.message
    assert found.line is not None


@pytest.mark.parametrize(
    "code",
    [
        "z = torch.zeros(3, dtype=torch.float32, device=x.device)",
        "z = x.contiguous().view(-1).reshape(4, -1)",
        "z = x.to(torch.float16)",
        "z = torch.as_strided(x, (1,), (1,))",
        "n = math.exp(3.0)",
        "n = triton.next_power_of_2(x.shape[0])",
        "names = ', '.join(['sum', 'mm'])",
        "grid = lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)",
        "sms = torch.cuda.get_device_properties(0).multi_processor_count",
        "with torch.no_grad():\n    pass",
        "p = nn.Parameter(x)",
        "n = self.width * 2 + x.shape[0] // 3",
        "self.prepare_launch(x)",
        "kind = torch.Tensor",
        "fresh = torch.empty",
        "dtypes = (torch.float32, torch.int8)",
        "z = torch.Tensor.view(x, -1)",
        "rows = getattr(x, 'shape')[0]",
        "layers = nn.ModuleList()",
        "z = torch.empty_permuted((2, 3), (1, 0))",
        "new = torch.__version__.split('.')",
        "known = isinstance(x, (nn.Linear, nn.Conv2d))",
        "def f(layer: nn.Linear) -> 'nn.LayerNorm':\n    return layer.weight",
        "mean = self.stats().mean",
        "def k(z):\n    return z.sum()\nj = triton.jit(k)\nj[(1,)](x)",
        "kinds = [torch.float8_e4m3fn, torch.contiguous_format]",
    ],
)
def test_allocation_views_and_whole_numbers_are_free(ask, code):
    assert adding(ask, code) == []


def test_arithmetic_may_move_and_go(ask):
    moved = ("w = F.relu(self.weight)", "w = self.weight")
    helper = ("def prepare(weight):\n", "def prepare(weight):\n    weight = F.relu(weight)\n")
    assert ask(moved, helper) == []
    assert ask(moved) == []


def test_arithmetic_inside_jit_functions_is_what_we_want(ask):
    change = ("tl.exp(x) + 1", "tl.dot(x, x) + tl.sum(x) + x.sum()")
    assert ask(change) == []


def test_second_use_of_a_known_call_is_new(ask):
    (found,) = ask(("w = w.sum(dim=0)", "w = w.sum(dim=0).sum()"))
    assert found.message == "host code computes with .sum 2 times, the submitted kernel 1 times"
