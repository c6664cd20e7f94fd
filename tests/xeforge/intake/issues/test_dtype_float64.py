import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import dtype_float64


def test_each_kernel_is_named_once(detect, blamed):
    source = """
@triton.jit
def k(p):
    x = tl.load(p).to(tl.float64)
    acc = tl.zeros((4,), dtype=tl.float64)

@triton.jit
def other(p):
    tl.store(p, 1.0)
"""
    (issue,) = detect(dtype_float64, source)
    assert issue.severity is Severity.SPEED
    assert issue.message.startswith("k computes in float64 (and on 1 more lines)")
    assert blamed(source, issue) == "x = tl.load(p).to(tl.float64)"


@pytest.mark.parametrize(
    "body",
    ["x = tl.load(p).to(tl.int64)", "x = tl.load(p)  # not tl.float64", "x = 'tl.float64'"],
)
def test_look_alikes(detect, body):
    source = (
        f"@triton.jit\ndef k(p):\n    {body}\n\ndef check(x):\n    return x.to(torch.float64)\n"
    )
    assert detect(dtype_float64, source) == ()
