import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import unused_constructor_argument

FRAME = """
@triton.jit
def k(p): pass

class Model(nn.Module):
    def __init__(self, size, gain=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size))
        %s

    def forward(self, x):
        %s
        return x
"""


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("pass", "pass"),
        ("self.gain = float(gain)", "pass"),
        ("self.gain = gain", "self.gain = 3.0"),
        ("pass", "gain = 2.0; x = x * gain"),
    ],
)
def test_ignored_arguments(detect, blamed, constructor, forward):
    source = FRAME % (constructor, forward)
    (issue,) = detect(unused_constructor_argument, source)
    assert issue.severity is Severity.WARNING
    assert "'gain' is ignored" in issue.message
    assert blamed(source, issue) == "def __init__(self, size, gain=1.0):"


@pytest.mark.parametrize(
    ("constructor", "forward"),
    [
        ("self.gain = gain", "x = x * self.gain"),
        ("self.gain = float(gain)", "k[(1,)](x, self.gain)"),
        ("self.weight.data.mul_(gain)", "pass"),
        ("self.gain = gain", "x = x * getattr(self, 'gain')"),
        ("self.options = dict(locals())", "pass"),
        ("self.scale = gain; self.other = gain + 1", "x = x * self.other"),
    ],
)
def test_arguments_that_matter(detect, constructor, forward):
    assert detect(unused_constructor_argument, FRAME % (constructor, forward)) == ()


def test_star_and_underscore_parameters_are_meant_to_be_ignored(detect):
    source = (FRAME % ("pass", "pass")).replace("gain=1.0", "_gain=1.0, *args, **options")
    assert detect(unused_constructor_argument, source) == ()


def test_model_without_a_constructor(detect):
    source = (
        "@triton.jit\ndef k(p): pass\nclass Model(nn.Module):\n    def forward(self, x): pass\n"
    )
    assert detect(unused_constructor_argument, source) == ()
