"""Numbers of a comparison, on outputs whose differences are known."""

import math

import pytest

COMPARE = """
from compare import compare
def run(got, own, *, again=None, wide=None, rtol=1e-2, atol=1e-5):
    return compare(0, got, again, {{}}, own=own, wide=wide, rtol=rtol, atol=atol)
nan, inf = float("nan"), float("inf")
{lines}
"""


def compared(interpreter, lines):
    return interpreter(COMPARE.format(lines=lines))


def test_equal_tensors_have_no_error(interpreter):
    answer = compared(
        interpreter,
        """
x = torch.tensor([1.0, -2.0, inf, nan])
answer["evidence"], answer["differing"] = run(x.clone(), x, again=x.clone())
""",
    )
    evidence = answer["evidence"]
    assert answer["differing"] == 0
    assert evidence["wrong_count"] == evidence["unwritten_count"] == 0
    assert evidence["nan_count"] == evidence["expected_nan_count"] == 1
    assert evidence["error"] == 0.0
    assert evidence["scale"] == 2.0


def test_the_first_wrong_element_is_placed(interpreter):
    answer = compared(
        interpreter,
        """
own = torch.ones(3, 4)
got = own.clone()
got[1, 2] = 1.5
got[2, 0] = nan
answer.update(run(got, own)[0])
""",
    )
    assert answer["wrong_count"] == 2
    assert answer["first_wrong"] == [1, 2]
    assert (answer["first_got"], answer["first_expected"]) == (1.5, 1.0)
    assert answer["max_abs_error"] == 0.5
    assert answer["error"] == pytest.approx(0.5 / math.sqrt(11))


def test_infinity_of_the_wrong_sign_and_missing_nan_are_wrong(interpreter):
    answer = compared(
        interpreter,
        "answer.update(run(torch.tensor([-inf, 0.0, 1.0]), torch.tensor([inf, nan, inf]))[0])",
    )
    assert answer["wrong_count"] == 3


def test_integers_and_booleans_must_be_exact(interpreter):
    answer = compared(
        interpreter,
        """
answer["int"] = run(torch.tensor([1000, 7]), torch.tensor([1001, 7]))[0]["wrong_count"]
answer["bool"] = run(torch.tensor([True, True]), torch.tensor([True, False]))[0]["wrong_count"]
""",
    )
    assert answer == {"int": 1, "bool": 1}


def test_elements_that_follow_the_poison_are_unwritten_others_differ(interpreter):
    answer = compared(
        interpreter,
        """
own = torch.ones(4)
got, again = torch.tensor([1.0, nan, 1.0, nan]), torch.tensor([1.0, -73.5, 1.1, nan])
evidence, answer["differing"] = run(got, own, again=again)
answer["unwritten"] = evidence["unwritten_count"]
own = torch.tensor([5, 0x5B])
got, again = torch.tensor([0x5B, 0x5B]), torch.tensor([0x35, 0x5B])
answer["integers"] = run(got, own, again=again)[0]["unwritten_count"]
""",
    )
    assert answer == {"differing": 1, "unwritten": 1, "integers": 1}


def test_errors_are_relative_to_the_float64_oracle(interpreter):
    answer = compared(
        interpreter,
        """
wide = torch.tensor([3.0, 4.0], dtype=torch.float64)
answer.update(run(torch.tensor([3.0, 4.5]), torch.tensor([3.0, 4.05]), wide=wide, rtol=0.5)[0])
""",
    )
    assert answer["wrong_count"] == 0
    assert answer["error"] == pytest.approx(0.1)
    assert answer["reference_error"] == pytest.approx(0.01, rel=1e-3)


def test_large_values_do_not_overflow_the_error(interpreter):
    answer = compared(
        interpreter,
        """
own = torch.full((4,), 1e300, dtype=torch.float64)
answer["error"] = run(own * 1.001, own)[0]["error"]
""",
    )
    assert answer["error"] == pytest.approx(1e-3, rel=1e-6)


def test_other_shapes_are_wrong_everywhere(interpreter):
    answer = compared(interpreter, "answer.update(run(torch.ones(3), torch.ones(2, 3))[0])")
    assert answer["wrong_count"] == 6
    assert answer["shape"] == [3]
    assert answer["expected_shape"] == [2, 3]
    assert answer["error"] == "inf"


def test_numbers_are_fetched_from_the_device_once(interpreter):
    """Each wait costs a time slice where the candidate is on the same device."""
    answer = interpreter(
        """
import compare, torch
fetched = []
real = torch.Tensor.tolist
for name in ("tolist", "item", "__bool__", "__int__", "__float__"):
    original = getattr(torch.Tensor, name)
    def counted(self, *rest, original=original, name=name):
        fetched.append(name)
        return original(self, *rest)
    setattr(torch.Tensor, name, counted)
try:
    own = torch.randn(7, 5)
    evidence, differing = compare.compare(
        0, own.clone(), own.clone(), {}, own=own, wide=own.double(), rtol=1e-3, atol=1e-3
    )
finally:
    for name in ("tolist", "item", "__bool__", "__int__", "__float__"):
        delattr(torch.Tensor, name)
    torch.Tensor.tolist = real
answer["fetched"] = fetched
answer["wrong"], answer["error"] = evidence["wrong_count"], evidence["error"]
"""
    )
    assert answer["fetched"] == ["tolist"]
    assert answer["wrong"] == 0
    assert answer["error"] == 0.0


def test_errors_have_a_size_where_squares_leave_float64(interpreter):
    answer = compared(
        interpreter,
        """
wide = torch.tensor([1e300, 1.0], dtype=torch.float64)
own = wide.float()  # beyond its range
answer["beyond"], _ = run(torch.tensor([1.0, 1.0]), own, wide=wide)
tiny = torch.tensor([1e-200, 2e-200], dtype=torch.float64)
answer["tiny"], _ = run(1.5 * tiny, tiny, wide=tiny)
""",
    )
    assert answer["beyond"]["error"] == pytest.approx(1.0)
    assert answer["beyond"]["scale"] == 1e300
    assert answer["tiny"]["error"] == pytest.approx(0.5)
