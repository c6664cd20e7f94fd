import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import no_swizzling

FRAME = """
@triton.jit
def k(a, b, c, M, N, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    %s
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    acc = tl.dot(tl.load(a + offs_m), tl.load(b + offs_n))
    tl.store(c, acc)

def run(a, b, c):
    k[(4, 4)](a, b, c, 1, 1, GROUP=8, BM=64, BN=64)
"""
AXES = "pid_m = tl.program_id(0)\n    pid_n = tl.program_id(axis=1)"
ROWS = "pid = tl.program_id(0)\n    n = tl.cdiv(N, BN)\n    pid_m = pid // n\n    pid_n = pid % n"
GROUPED = """pid = tl.program_id(0)
    blocks_n = tl.cdiv(N, BN)
    width = GROUP * blocks_n
    group = pid // width
    height = min(tl.cdiv(M, BM) - group * GROUP, GROUP)
    pid_m = group * GROUP + (pid % width) % height
    pid_n = (pid % width) // height"""


@pytest.mark.parametrize(
    "order", [AXES, AXES.replace("program_id(0)", "program_id(2).to(tl.int64)"), ROWS]
)
def test_plain_orders(detect, blamed, order):
    source = FRAME % order
    (issue,) = detect(no_swizzling, source)
    assert issue.severity is Severity.SPEED
    assert blamed(source, issue).startswith("pid_m =")


@pytest.mark.parametrize(
    "order",
    [
        GROUPED,
        AXES + "\n    pid_m, pid_n = tl.swizzle2d(pid_m, pid_n, 4, 4, GROUP)",
        "pid_m = tl.program_id(0)\n    pid_n = 0",
        AXES + "\n    pid_m = (pid_m + pid_n) % 4",
    ],
)
def test_other_orders_are_left_alone(detect, order):
    assert detect(no_swizzling, FRAME % order) == ()


def test_kernels_without_products_and_attention_are_left_alone(detect):
    assert detect(no_swizzling, (FRAME % AXES).replace("tl.dot", "tl.add")) == ()
    attention = FRAME % AXES
    attention = attention.replace("pid_n * BN + tl.arange(0, BN)", "pid_n * N + tl.arange(0, BN)")
    assert detect(no_swizzling, attention) == ()
