"""bfloat16 in the interpreter agrees with torch, bit for bit where torch rounds once."""

import numpy as np
import pytest

from bench_workers.child import bf16

EXPECTED = {
    "add": "x + y",
    "twice": "x * 2",
    "divide": "(x.float() / y.float()).bfloat16()",
    "abs": "x.abs()",
    "negate": "-x",
    "maximum": "torch.maximum(x, y)",
    "where": "torch.where(x > y, x, y)",
    "exp": "x.float().exp().bfloat16()",
    "to_half": "x.half().bfloat16()",
    "to_int": "(x * 10).to(torch.int32).bfloat16()",
    "bits": "x",
    "constant": "torch.full_like(x, 0.1) + x",
    "zeros": "y",
}


@pytest.mark.parametrize("op", EXPECTED)
def test_elementwise_operators_round_as_torch_does(interpreter, op):
    answer = interpreter(
        f"""
torch.manual_seed(5)
x, y = torch.randn(2, 256).bfloat16()
got, expected = file("bf16_ops").elementwise({op!r}, x, y), {EXPECTED[op]}
answer["most"] = float((got.float() - expected.float()).abs().max())
answer["dtype"] = str(got.dtype)
"""
    )
    assert answer == {"most": 0.0, "dtype": "torch.bfloat16"}


def test_reductions_agree_with_torch(interpreter):
    answer = interpreter(
        """
torch.manual_seed(6)
x, module = torch.randn(8, 64).bfloat16(), file("bf16_ops")
wide = x.double()
answer["sum"] = torch.equal(module.reduce("sum", x, torch.bfloat16), x.float().sum(1).bfloat16())
answer["max"] = torch.equal(module.reduce("max", x, torch.bfloat16), x.amax(1))
answer["argmax"] = torch.equal(module.reduce("argmax", x, torch.int32).long(), x.argmax(1))
cumulated = wide.cumsum(1).sum(1)
difference = module.reduce("cumsum", x, torch.float32).double() - cumulated
answer["cumsum"] = float((difference / cumulated).abs().max())
"""
    )
    assert answer["sum"]
    assert answer["max"]
    assert answer["argmax"]
    assert answer["cumsum"] < 1e-5


@pytest.mark.parametrize("cast", [False, True])
def test_products_accumulate_in_float32(interpreter, cast):
    answer = interpreter(
        f"""
torch.manual_seed(7)
a, b = torch.randn(2, 32, 32)
if not {cast}:
    a, b = a.bfloat16(), b.bfloat16()
got = file("bf16_ops").dot(a, b, {cast})
expected = (a.bfloat16().double() @ b.bfloat16().double().T)
answer["error"] = float((got.double() - expected).abs().max() / expected.abs().max())
"""
    )
    assert answer["error"] < 2.0**-8


def test_atomics_add_lane_by_lane(interpreter):
    answer = interpreter(
        """
x, out = torch.ones(32).bfloat16(), torch.zeros(4).bfloat16()
file("bf16_ops").atomic_kernel[(1,)](x, out, BLOCK=32)
answer["out"] = out.tolist()
"""
    )
    assert answer["out"] == [8.0, 8.0, 8.0, 8.0]


def test_masked_lanes_take_the_given_value(interpreter):
    answer = interpreter(
        """
x, out = torch.arange(8).bfloat16(), torch.zeros(8).bfloat16()
file("bf16_ops").masked_kernel[(1,)](x, out, 5, BLOCK=8)
answer["out"] = out.tolist()
"""
    )
    assert answer["out"] == [0.0, 1.0, 2.0, 3.0, 4.0, -1.5, -1.5, -1.5]


def test_narrowing_rounds_to_nearest_even_and_keeps_nan():
    values = np.array([1.0, 1.0 + 2**-8, 1.0 + 3 * 2**-8, -2.5, np.inf, np.nan], np.float32)
    back = bf16.widen(bf16.narrow(values))
    assert back[:5].tolist() == [1.0, 1.0, 1.0 + 2**-6, -2.5, np.inf]
    assert np.isnan(back[5])


def test_truncation_rounds_towards_zero():
    values = np.array([1.0 + 3 * 2**-8, -1.0 - 3 * 2**-8], np.float32)
    assert bf16.truncate(values).tolist() == [1.0 + 2**-7, -1.0 - 2**-7]
