import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import repack_in_forward

FRAME = """
@triton.jit
def k(p): pass

def launch(x, weight, bias):
    %s
    return x

class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.randn(size, size))
        self.linear = nn.Linear(size, size)
        self.register_buffer("scale", torch.ones(size))
        self.packed = False

    def forward(self, x):
        %s
        return launch(x, self.weight, bias=self.linear.bias)
"""


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        ("w = self.weight.t().contiguous()", "on every call"),
        ("w = self.weight.T.contiguous()", "on every call"),
        ("w = self.linear.weight.transpose(0, 1).contiguous().to(x.device)", "on every call"),
        ("w = self.weight.half()", "unless it already has that dtype"),
        ("w = self.scale.to(torch.float32)", "unless it already has that dtype"),
        ("w = self.scale.to(device=x.device, dtype=torch.float32)", "unless it already"),
        ("w = self.weight.clone()", "on every call"),
        ("w = self.weight.t().contiguous().float()", "on every call"),
        ("w = self.weight; v = w.t().contiguous()", "on every call"),
    ],
)
def test_copies_of_weights(detect, blamed, statement, note):
    source = FRAME % ("pass", statement)
    (issue,) = detect(repack_in_forward, source)
    assert issue.severity is Severity.SPEED
    assert note in issue.message
    assert blamed(source, issue) == statement


@pytest.mark.parametrize("statement", ["w = weight.t().contiguous()", "b = bias.float()"])
def test_copies_in_a_helper_that_gets_the_weight(detect, blamed, statement):
    source = FRAME % (statement, "pass")
    (issue,) = detect(repack_in_forward, source)
    assert blamed(source, issue) == statement


@pytest.mark.parametrize(
    "statement",
    [
        "w = self.weight.t()",
        "w = self.weight.contiguous()",
        "w = self.weight.to(x.dtype)",
        "w = self.weight.to(x.device)",
        "y = x.t().contiguous()",
        "y = x.float()",
        "n = self.size.float()",
    ],
)
def test_views_casts_to_the_input_and_copies_of_inputs_are_left_alone(detect, statement):
    assert detect(repack_in_forward, FRAME % ("pass", statement)) == ()


def test_conditional_copies_are_left_alone(detect):
    guarded = "if x.is_cuda:\n            self.weight.data = self.weight.data.half()"
    assert detect(repack_in_forward, FRAME % ("pass", guarded)) == ()


def test_packing_once_is_left_alone(detect):
    once = """if self.packed:
            return x
        self.cache = self.weight.t().contiguous()"""
    assert detect(repack_in_forward, FRAME % ("pass", once)) == ()


def test_copies_in_the_constructor_are_left_alone(detect):
    source = FRAME.replace("self.packed = False", "self.cache = self.weight.t().contiguous()")
    assert detect(repack_in_forward, source % ("pass", "pass")) == ()
