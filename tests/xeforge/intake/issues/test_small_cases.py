"""Cases of single detectors that the labelled kernels do not hold."""

import pytest

from xeforge.intake.issues import dtype_input_conversion
from xeforge.intake.issues import dtype_precision
from xeforge.intake.issues import no_swizzling
from xeforge.intake.issues import redundant_computation

PEAK = """
@triton.jit
def peak(x, y, n, B: tl.constexpr):
    cols = tl.arange(0, B)
    tl.store(y + tl.program_id(0), tl.max(tl.load(x + cols, mask=cols < n), axis=0))

def run(x):
    one, two = torch.empty(4), torch.empty(4)
    peak[(4,)](x, one, x.shape[1], B=128)
    peak[(4,)](x, %s, x.shape[1], B=%s)
    return one, two
"""


def test_the_same_result_in_two_places_is_computed_twice(detect, blamed):
    source = PEAK % ("two", "128")
    (issue,) = detect(redundant_computation, source)
    assert blamed(source, issue) == "peak[(4,)](x, two, x.shape[1], B=128)"
    assert detect(redundant_computation, PEAK % ("two", "256")) == ()


ROUNDED = """
@triton.jit
def mm(a, b, c, K, B: tl.constexpr):
    acc = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, K, B):
        acc = %s
    tl.store(c, acc)
"""


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("(acc + tl.dot(a, b).to(tl.float16)).to(tl.float32)", 1),
        ("acc + tl.dot(a.to(tl.float16), b)", 0),
        ("tl.dot(tl.dot(a, b).to(tl.float16), b)", 0),
    ],
)
def test_sums_that_each_turn_rounds(detect, value, count):
    assert len(detect(dtype_precision, ROUNDED % value)) == count


CAST = """
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 0)

def run(x):
    x = x.float()
    k[(1,)](x, B=128)
"""


def test_functions_of_a_file_without_model_get_tensors(detect, blamed):
    (issue,) = detect(dtype_input_conversion, CAST)
    assert blamed(CAST, issue) == "x = x.float()"


ORDER = """
@triton.jit
def k(a, b, c, N, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(0)
    rows = tile // %s * BM + tl.arange(0, BM)
    cols = tile %% %s * BN + tl.arange(0, BN)
    tl.store(c + rows[:, None] * N + cols[None, :], tl.dot(tl.load(a + rows), tl.load(b + cols)))

def run(a, b, c, n):
    k[(4,)](a, b, c, n, BM=64, BN=64)
"""


def test_plain_order_without_names_for_tile_numbers(detect):
    assert len(detect(no_swizzling, ORDER % (("tl.cdiv(N, BN)",) * 2))) == 1
    assert detect(no_swizzling, ORDER % (("(8 * tl.cdiv(N, BN))",) * 2)) == ()
