"""Predicates: checked when read, three-valued when asked, and never code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xeforge.verify.gates.facts import SCOPES
from xeforge.verify.gates.facts import kinds_of
from xeforge.verify.gates.predicate import BadPredicate
from xeforge.verify.gates.predicate import read_predicate

KINDS = {
    "n": "number",
    "m": "number",
    "t": "text",
    "b": "truth",
    "some": "numbers",
    "words": "texts",
    "device.lanes": "number",
}


@pytest.mark.parametrize(
    ("text", "facts", "truth"),
    [
        ("", {}, True),
        ("n > 3", {"n": 4}, True),
        ("n > 3", {"n": 3}, False),
        ("n > 3", {}, None),
        ("2 < n <= 4", {"n": 4}, True),
        ("2 < n <= m", {"n": 1}, False),
        ("2 < n <= m", {"n": 3}, None),
        ("n > 3 and b", {"b": False}, False),
        ("n > 3 or b", {"b": True}, True),
        ("n > 3 or b", {"b": False}, None),
        ("not b", {"b": False}, True),
        ("not b", {}, None),
        ("n in some", {"n": 2, "some": (1, 2)}, True),
        ("n not in some", {"n": 2, "some": (1, 2)}, False),
        ("n in some", {"n": 2}, None),
        ('t in ("x", "y")', {"t": "y"}, True),
        ('"tf32" in words', {"words": ("ieee",)}, False),
        ("n * m + 1 == 7", {"n": 2, "m": 3}, True),
        ("n / m > 1", {"n": 1, "m": 0}, None),
        ("n // 2 % 2 == 1", {"n": 6}, True),
        ("-n < 0", {"n": 1}, True),
        ("power_of_two(n)", {"n": 64}, True),
        ("power_of_two(n)", {"n": 96}, False),
        ("power_of_two(n)", {"n": 0}, False),
        ("max(n, 2) == 2 and min(n, 2) == n", {"n": 1}, True),
        ("known(n)", {}, False),
        ("known(n)", {"n": 0}, True),
        ("device.lanes == 32", {"device.lanes": 32}, True),
        ("b == True", {"b": True}, True),
    ],
)
def test_truth_has_three_values(text, facts, truth):
    assert read_predicate(text, KINDS).holds(facts) is truth


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n >", "invalid syntax"),
        ("n", "it is a number, not a claim"),
        ("n > 'x'", "'x' is a text where a number is needed".replace("'x'", "\"'x'\"")),
        ("t > 3", "'t' is a text where a number is needed"),
        ("b and n", "'n' is a number where a truth is needed"),
        ("k > 3", "no fact is called 'k'"),
        ("device.lane > 3", "did you mean 'device.lanes'?"),
        ("n in 3", "'3' is no list to look in"),
        ("t in (1, 2)", "where a number is needed"),
        ("n in (1, 'x')", "where a number is needed"),
        ("n in ()", "is not allowed"),
        ("n is 3", "write =="),
        ("power_of_two(n, m)", "takes 1 argument"),
        ("eval('1')", "is not allowed"),
        ("().__class__ == 1", "is not allowed"),
        ("n.real > 1", "no fact is called 'n.real'"),
        ("[x for x in some] == some", "is not allowed"),
        ("(lambda: 1)() == 1", "is not allowed"),
        ("n ** 9 > 1", "is not allowed"),
        ("n if b else m", "is not allowed"),
        ("f'{n}' == t", "is not allowed"),
        ("(n := 3) > 2", "is not allowed"),
        ("n > 3" + " and n > 3" * 300, "characters, more than"),
        ("not " * 140 + "b", "parts; write two predicates"),
        ("(" * 250 + "b" + ")" * 250, ""),
    ],
)
def test_what_is_no_predicate_is_refused(text, words):
    with pytest.raises(BadPredicate) as caught:
        read_predicate(text, KINDS)
    assert words.strip('"') in str(caught.value) or "text where a number" in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_does_anything_but_be_read_or_refused(text):
    try:
        found = read_predicate(text, KINDS)
    except BadPredicate:
        return
    assert found.holds({}) in (True, False, None)


def test_it_says_which_terms_fail_and_what_is_missing():
    predicate = read_predicate("n > 3 and b and m == 1", KINDS)
    assert predicate.parts({"n": 1, "b": True}, wanted=False) == ("n > 3",)
    assert predicate.missing({"n": 1, "b": True}) == ("m",)
    assert predicate.numbers == {3, 1}


def test_every_fact_has_a_meaning_and_samples_of_its_kind():
    types = {"number": (int, float), "text": (str,), "truth": (bool,)}
    for scope, facts in SCOPES.items():
        for name, fact in facts.items():
            assert fact.means
            assert kinds_of(scope)[name] == fact.kind
            assert name.startswith("device.") or fact.samples, name
            assert all(isinstance(each, types[fact.kind]) for each in fact.samples)
