"""Quasi-affine expressions: canonical, simplified without a change of meaning, bounded."""

import itertools

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import below
from xeforge.fusion.affine import equal
from xeforge.fusion.affine import number

EXTENTS = {"i": 4, "j": 3, "k": 5}
POINTS = [
    dict(zip(EXTENTS, point, strict=True)) for point in itertools.product(*map(range, (4, 3, 5)))
]
leaves = st.one_of(st.sampled_from("ijk").map(axis), st.integers(-7, 7).map(number))
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
        st.tuples(inner, st.integers(-6, 6)).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(1, 9)).map(lambda pair: pair[0] // pair[1]),
        st.tuples(inner, st.integers(1, 9)).map(lambda pair: pair[0] % pair[1]),
    ),
    max_leaves=7,
)


@settings(max_examples=150, deadline=None)
@given(expressions)
def test_simplified_means_the_same_and_bounds_hold(of):
    simple = of.simplified(EXTENTS)
    low, high = of.interval(EXTENTS)
    for point in POINTS:
        value = of.evaluate(point)
        assert simple.evaluate(point) == value
        assert low <= value <= high


@settings(max_examples=80, deadline=None)
@given(expressions, expressions, expressions)
def test_substitution_is_evaluation_in_two_steps(of, first, second):
    replaced = of.substitute({"i": first, "j": second})
    for point in POINTS[::7]:
        inner = {**point, "i": first.evaluate(point), "j": second.evaluate(point)}
        assert replaced.evaluate(point) == of.evaluate(inner)


@settings(max_examples=80, deadline=None)
@given(expressions, expressions)
def test_equal_sums_compare_equal(first, second):
    assert first + second == second + first
    assert first + second - second == first


@pytest.mark.parametrize(
    ("of", "text"),
    [
        ((axis("i") * 3 + axis("j")) // 3, "i"),
        ((axis("i") * 3 + axis("j")) % 3, "j"),
        ((axis("i") * 15 + axis("j") * 5 + axis("k")) // 5 % 3, "j"),
        ((axis("i") * 15 + axis("j") * 5 + axis("k")) % 15 // 5, "j"),
        ((axis("i") * 4 + axis("j") * 2) // 8, "(2*i + j) // 4"),
        ((axis("i") // 2) // 3, "0"),
        (axis("k") + 5 - 5, "k"),
    ],
)
def test_what_reshapes_leave_behind_is_recognised(of, text):
    assert str(of.simplified(EXTENTS)) == text


def test_divisors_are_positive():
    for by in (0, -2):
        with pytest.raises(ValueError, match="positive"):
            axis("i") // by
        with pytest.raises(ValueError, match="positive"):
            axis("i") % by


def test_conditions():
    conditions = (at_least(axis("i"), 2), below(axis("i") * 2, 7), equal(axis("j") % 2, 0))
    assert [str(each) for each in conditions] == ["i >= 2", "6 >= 2*i", "j % 2 == 0"]
    holds = [point for point in POINTS if all(each.evaluate(point) for each in conditions)]
    assert {(point["i"], point["j"]) for point in holds} == {(2, 0), (2, 2), (3, 0), (3, 2)}
    assert below(axis("i"), 4).always_holds(EXTENTS)
    assert not below(axis("i"), 3).always_holds(EXTENTS)
    assert equal(Affine(), 0).always_holds(EXTENTS)
