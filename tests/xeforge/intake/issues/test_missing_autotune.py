import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import missing_autotune

FRAME = """
SIZE = 256

%s
@triton.jit
def k(x, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    pass

def run(x, n):
    block, width = 64, triton.next_power_of_2(n)
    k[(n,)](x, n, %s)
    k[(n,)](x, n, HAS_BIAS=1, BLOCK=32)
"""
TUNED = "@triton.autotune(configs=[triton.Config({'BLOCK': 8})], key=[])"


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ("HAS_BIAS=True, BLOCK=128", 128),
        ("True, 128", 128),
        ("HAS_BIAS=1, BLOCK=SIZE", 256),
        ("HAS_BIAS=0, BLOCK=block", 64),
    ],
)
def test_fixed_blocks(detect, arguments, size):
    (issue,) = detect(missing_autotune, FRAME % ("", arguments))
    assert issue.severity is Severity.SPEED
    assert issue.message == f"k is launched with fixed BLOCK={size}"


@pytest.mark.parametrize("arguments", ["HAS_BIAS=1, BLOCK=width", "HAS_BIAS=1, BLOCK=100"])
def test_blocks_that_follow_the_shape_or_are_no_blocks(detect, arguments):
    source = (FRAME % ("", arguments)).replace("    k[(n,)](x, n, HAS_BIAS=1, BLOCK=32)\n", "")
    assert detect(missing_autotune, source) == ()


def test_tuned_kernels_are_left_alone(detect):
    assert detect(missing_autotune, FRAME % (TUNED, "HAS_BIAS=1")) == ()
