"""Bounds on the error against float64 follow from formats and lengths, not from guesses."""

from math import inf
from math import sqrt

import pytest

from xeforge.verify.inputs import plan_cases
from xeforge.verify.tolerance import accumulation_eps
from xeforge.verify.tolerance import error_bound
from xeforge.verify.tolerance import reduction_length


def case(make, **changes):
    asked = make.problem(make.workload(**changes))
    return plan_cases(asked, purpose="audit", interpreted=False, seed=0)[0]


def test_length_is_the_largest_size(make):
    assert reduction_length(case(make)) == 64
    given = case(make, init_args=(True, 300, 0.5), init_dims=("", "FOUT", ""))
    assert reduction_length(given) == 300
    assert reduction_length(None) == 4096
    scalar = make.tensor(shape=(), dims=())
    assert reduction_length(case(make, inputs=(scalar,))) == 1


def test_sums_are_kept_in_float32_unless_something_is_wider(make):
    assert accumulation_eps(case(make)) == 2.0**-23
    assert accumulation_eps(case(make, dtype="double")) == 2.0**-52
    assert accumulation_eps(case(make, dtype=None)) == 2.0**-23
    assert accumulation_eps(None) == 2.0**-23


def test_reference_error_counts_twice(make):
    assert error_bound(make.output(reference_error=0.01), case(make), None) == 0.02


def test_half_a_unit_of_the_stored_format_is_allowed(make):
    given = make.output(reference_error=0.0)
    assert error_bound(given, case(make), None) == 2.0**-11


def test_long_sums_may_lose_the_square_root_of_their_length(make):
    given = make.output(reference_error=0.0, expected_dtype="float32")
    assert error_bound(given, case(make), None) == pytest.approx(2.0**-23 * sqrt(64))
    odd = make.output(reference_error=0.0, expected_dtype="complex64")
    assert error_bound(odd, case(make), None) == pytest.approx(2.0**-23 * sqrt(64))


def test_tf32_is_a_loss_where_the_reference_has_none(make):
    tf32 = make.output(error=3e-4, reference_error=1e-7, expected_dtype="float32")
    assert tf32.error > error_bound(tf32, case(make), None)
    own = make.output(error=3e-4, expected_dtype="float32")
    assert tf32.error <= error_bound(tf32, case(make), own)


def test_nothing_is_said_without_float64_or_about_zero(make):
    assert error_bound(make.output(reference_error=None), case(make), None) is None
    assert error_bound(make.output(scale=0.0), case(make), None) is None


def test_infinite_errors_bound_nothing(make):
    given = make.output(reference_error=inf)
    assert error_bound(given, case(make), make.output(error=inf)) == 2.0**-11
