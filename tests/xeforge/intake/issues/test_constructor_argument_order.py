import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import constructor_argument_order

KERNEL = """
@triton.jit
def k(p, alpha, beta, n): pass

class Model(nn.Module):
    def __init__(self, %s):
        super().__init__()
        self.alpha = alpha
        self.beta = float(beta)

    def forward(self, x):
        k[(1,)](%s)
        return x
"""
REFERENCE = """
class Model(nn.Module):
    def __init__(self, %s): pass
    def forward(self, x): pass
"""
PLAIN = "x, self.alpha, self.beta, 3"


@pytest.mark.parametrize(
    ("ours", "theirs", "severity"),
    [
        ("beta, alpha", "alpha, beta", Severity.ERROR),
        ("alpha, beta=1", "alpha, bias, beta", Severity.ERROR),
        ("alpha=1, beta=1", "alpha=1, bias=True, beta=1", Severity.WARNING),
    ],
)
def test_other_order_than_the_reference(detect, blamed, ours, theirs, severity):
    source = KERNEL % (ours, PLAIN)
    (issue,) = detect(constructor_argument_order, source, REFERENCE % theirs)
    assert issue.severity is severity
    assert blamed(source, issue) == f"def __init__(self, {ours}):"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("alpha, beta", "alpha, beta"),
        ("alpha, beta", "first, second"),
        ("alpha, beta", "alpha, beta, momentum=0.1"),
        ("alpha, *, beta=1", "alpha, eps=1, *, beta=1"),
    ],
)
def test_orders_that_agree(detect, ours, theirs):
    assert detect(constructor_argument_order, KERNEL % (ours, PLAIN), REFERENCE % theirs) == ()


@pytest.mark.parametrize(
    "arguments", ["x, self.beta, self.alpha, 3", "x, beta=self.alpha, alpha=self.beta, n=3"]
)
def test_values_passed_in_each_others_place(detect, blamed, arguments):
    source = KERNEL % ("alpha, beta", arguments)
    (issue,) = detect(constructor_argument_order, source)
    assert issue.severity is Severity.WARNING
    assert "'beta' as 'alpha'" in issue.message
    assert blamed(source, issue).startswith("k[(1,)]")


@pytest.mark.parametrize(
    "arguments",
    [
        PLAIN,
        "x, self.alpha, self.alpha, 3",
        "x, self.beta, 2.0, 3",
        "x, self.beta * 1, self.alpha, 3",
        "*[x, self.beta, self.alpha, 3]",
    ],
)
def test_values_that_are_not_exchanged(detect, arguments):
    assert detect(constructor_argument_order, KERNEL % ("alpha, beta", arguments)) == ()
