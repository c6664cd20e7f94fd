import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xeforge.errors import BadSpec
from xeforge.intake.expression import evaluate

NAMES = {"H": 3, "HIDDEN": 50, "N": 4, "SIZES": (2, 3, 5), "MODE": "relu", "FLAG": True}


def value(text):
    return evaluate(text, NAMES, field="bench-gpu[0].flop", file="s.yaml", line=7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*H*HIDDEN", 300),
        ("H*HIDDEN + H", 153),
        ("-(H - 5) ** 2", -4),
        ("7 // 2 + 7 % 4 + 1 / 4", 6.25),
        ("1e3 * 2.5", 2500.0),
        ("2 ** 3 ** 2", 512),
        ("FLAG * 5", 5),
        ("SIZES[0] * SIZES[-1]", 10),
        ("N * adjacent_prod_sum(7, SIZES, 11)", 4 * (14 + 6 + 15 + 55)),
        ("adjacent_prod_sum(7)", 0),
        (12, 12),
        (2.5, 2.5),
        ("  N  ", 4),
    ],
)
def test_values(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no formula"),
        ("2 *", "no formula"),
        ("HIDEN * 2", "did you mean 'HIDDEN'"),
        ("HIDDEN.bit_length()", "not allowed"),
        ("__import__('os')", "not allowed"),
        ("(lambda: 1)()", "not allowed"),
        ("'a' * 3", "not allowed"),
        ("[1][0]", "not allowed"),
        ("True + 1", "not allowed"),
        ("N if N else 1", "not allowed"),
        ("N ^ 2", "not allowed"),
        ("1 / (N - 4)", "divides by zero"),
        ("9 ** 65", "exponent"),
        ("((9 ** 64) ** 64) ** 64", "too large"),
        ("10.0 ** 64 ** 2", "exponent"),
        ("1e300 * 1e300", "not finite"),
        ("(-2) ** 0.5", "fractional power"),
        ("SIZES * 2", "a list"),
        ("MODE + 1", "text"),
        ("SIZES[3]", "3 elements"),
        ("SIZES[0.5]", "by integers"),
        ("N[0]", "only lists"),
        ("1 +" * 700 + "1", "characters"),
        ("-" * 1900 + "1", "nested|no formula"),
        ("(" * 900 + "1" + ")" * 900, "nested|no formula"),
        (float("nan"), "not finite"),
        (True, "truth value"),
    ],
)
def test_refused_with_place_and_remedy(text, message):
    with pytest.raises(BadSpec, match=message) as caught:
        value(text)
    error = caught.value
    assert (error.file, error.line, error.field) == ("s.yaml", 7, "bench-gpu[0].flop")
    assert error.remedy


NUMBERS = st.integers(0, 1000).map(str) | st.sampled_from(sorted({"H", "HIDDEN", "N"}))
FORMULAS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda text: f"-{text}"),
    ),
    max_leaves=12,
)


def by_replacement(text):
    """Evaluate independently: whole names replaced by numbers, then folded by a tree walk."""

    class Fold(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Constant(NAMES[node.id])

    tree = ast.fix_missing_locations(Fold().visit(ast.parse(text, mode="eval")))
    return eval(compile(tree, "f", "eval"), {"__builtins__": {}})


@given(FORMULAS)
def test_agrees_with_python(text):
    expected = by_replacement(text)
    if abs(expected).bit_length() <= 1000:
        assert value(text) == expected


@given(st.text(max_size=60))
def test_any_text_gives_a_finite_number_or_a_named_error(text):
    try:
        result = value(text)
    except BadSpec:
        return
    assert math.isfinite(result)


@given(st.text(alphabet="0123456789*+-/%().eHN[]_", max_size=40))
def test_any_formula_like_text_gives_a_finite_number_or_a_named_error(text):
    try:
        result = value(text)
    except BadSpec:
        return
    assert math.isfinite(result)
