import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xeforge.source.imports import ImportTable
from xeforge.source.literals import LiteralReader
from xeforge.source.literals import NotLiteral

NAMES = {"N": 4, "BLOCKS": (16, 32), "BASE": {"M": 1}}
IMPORTS = ImportTable({"it": "itertools", "triton": "triton", "product": "itertools.product"})


def value(text):
    return LiteralReader(NAMES, IMPORTS).value(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2, *BLOCKS]", (1, 2, 16, 32)),
        ("[a * b for a in BLOCKS for b in (1, 2) if a * b != 32]", (16, 64)),
        ("{k: v for k, v in [('a', 1)]}", {"a": 1}),
        ("{**BASE, 'K': N}", {"M": 1, "K": 4}),
        ("dict(M=2, **{'N': 3})", {"M": 2, "N": 3}),
        ("it.product([1], [2, 3])", ((1, 2), (1, 3))),
        ("[a for a, _ in product(BLOCKS, range(1))]", (16, 32)),
        ("2 ** 5 + (1 << 3) - 7 // 2 % 2", 39),
        ("N if N > 3 and not False else 0", 4),
        ("BLOCKS[-1] + BLOCKS[0:1][0]", 48),
        ("triton.cdiv(9, 4) + triton.next_power_of_2(5)", 11),
        ("max(BLOCKS) + min(1, 2) + len(BLOCKS) + sum(BLOCKS)", 32 + 1 + 2 + 48),
        ("'ab' + 'c'", "abc"),
        ("1 < 2 <= 2", True),
        ("3 in BLOCKS or None", None),
        ("[0] * 3", (0, 0, 0)),
    ],
)
def test_literal_expressions(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "UNKNOWN",
        "open('x')",
        "N.bit_length()",
        "__import__('os')",
        "(lambda: 1)()",
        "f'{N}'",
        "'%s' % N",
        "10 ** 10 ** 10",
        "1 << 10 ** 9",
        "[0] * 10 ** 9",
        "'x' * 10 ** 9",
        "range(10 ** 9)",
        "[a for a in range(9000) for b in range(9000)]",
        "max(range(10 ** 12))",
        "1 / 0",
        "[1][5]",
        "[1] + 2",
        "sorted([1, 'a'])",
        "(await_ := 3)",
    ],
)
def test_everything_else_is_refused_quickly(text):
    with pytest.raises(NotLiteral):
        value(text)


def test_names_of_the_module_do_not_see_loop_variables():
    inner = ast.parse("a + 1", mode="eval").body
    names = {"a": 10}
    reader = LiteralReader(names, IMPORTS, expressions={"LATER": inner})
    assert reader.value(ast.parse("[LATER for a in (1, 2)]", mode="eval").body) == (11, 11)


PLAIN = st.integers(-50, 50) | st.booleans() | st.text(max_size=3)


@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=8))
def test_plain_literals_come_back_with_lists_as_tuples(data):
    def tuples(each):
        return tuple(map(tuples, each)) if isinstance(each, list) else each

    assert value(repr(data)) == tuples(data)


@given(st.text(alphabet="0123456789()[]*+-/%,: NBLOCKSforinif<>", max_size=40))
def test_any_expression_ends(text):
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return
    try:
        LiteralReader(NAMES, IMPORTS).value(tree)
    except NotLiteral:
        return
