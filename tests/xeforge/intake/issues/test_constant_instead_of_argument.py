import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import constant_instead_of_argument

FRAME = """
EPS = 1e-5

@triton.jit
def k(p, n, eps, BLOCK: tl.constexpr):
    x = tl.load(p) + %s
    tl.store(p, x)

class Model(nn.Module):
    def __init__(self, size, %s):
        super().__init__()
        self.size = size
        self.eps = eps

    def forward(self, x):
        k[(1,)](x, self.size, %s, BLOCK=128)
        return x
"""


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (("1e-5", "eps=1e-5", "x"), "x = tl.load(p) + 1e-5"),
        (("1e-6", "eps", "x"), "x = tl.load(p) + 1e-6"),
        (("eps", "eps=1e-5", "EPS"), "k[(1,)](x, self.size, EPS, BLOCK=128)"),
        (("eps", "eps=3.5", "3.5"), "k[(1,)](x, self.size, 3.5, BLOCK=128)"),
    ],
)
def test_constants_that_replace_an_argument(detect, blamed, parts, line):
    source = FRAME % parts
    (issue,) = detect(constant_instead_of_argument, source)
    assert issue.severity is Severity.WARNING
    assert "'eps' should be" in issue.message
    assert blamed(source, issue) == line


@pytest.mark.parametrize(
    ("inside", "parameter", "passed"),
    [
        ("1e-5", "eps=1e-5", "self.eps"),
        ("1e-4", "eps=1e-5", "x"),
        ("128", "eps=128", "x"),
        ("0.0", "eps=0.0", "x"),
        ("1", "eps=1", "x"),
        ("7.0", "eps", "x"),
    ],
)
def test_look_alikes(detect, inside, parameter, passed):
    assert detect(constant_instead_of_argument, FRAME % (inside, parameter, passed)) == ()


def test_usual_value_of_the_reference_counts(detect):
    source = (FRAME % ("0.3", "eps", "x")).replace("eps", "slope")
    reference = "class Model(nn.Module):\n    def __init__(self, size, slope=0.3): pass\n"
    assert detect(constant_instead_of_argument, source) == ()
    (issue,) = detect(constant_instead_of_argument, source, reference)
    assert "the constant 0.3" in issue.message
