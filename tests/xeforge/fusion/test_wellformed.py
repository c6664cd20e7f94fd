"""Each rule has a program that breaks it, and only it."""

from dataclasses import replace

import pytest

from tests.xeforge.fusion.samples import BENT
from tests.xeforge.fusion.samples import COL
from tests.xeforge.fusion.samples import COLUMNS
from tests.xeforge.fusion.samples import DEEP
from tests.xeforge.fusion.samples import PRODUCT
from tests.xeforge.fusion.samples import PROGRAM
from tests.xeforge.fusion.samples import ROW
from tests.xeforge.fusion.samples import ROWS
from tests.xeforge.fusion.samples import TOTAL
from tests.xeforge.fusion.samples import read
from tests.xeforge.fusion.samples import with_array
from tests.xeforge.fusion.samples import with_stmt
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import below
from xeforge.fusion.affine import number
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Select
from xeforge.fusion.wellformed import Malformed
from xeforge.fusion.wellformed import Rule
from xeforge.fusion.wellformed import check
from xeforge.fusion.wellformed import find_violations

SPARE = Array("z", (ROWS,), "float32", "intermediate")
BROKEN = {
    "two arrays of one name": (
        replace(PROGRAM, arrays=(*PROGRAM.arrays, PROGRAM.arrays[0])),
        Rule.UNIQUE_NAMES,
    ),
    "two axes of one name": (
        with_stmt("bent", axes=(Axis("i", ROWS), Axis("i", COLUMNS), Axis("j", COLUMNS))),
        Rule.UNIQUE_NAMES,
    ),
    "an unknown array": (
        with_stmt("bent", body=call("gelu", read("q", ROW, COL))),
        Rule.KNOWN_NAMES,
    ),
    "an unknown axis": (with_stmt("bent", body=read("p", ROW, DEEP)), Rule.KNOWN_NAMES),
    "an unknown axis in a position": (
        with_stmt("bent", body=Position(DEEP, "float32")),
        Rule.KNOWN_NAMES,
    ),
    "an unknown reduced axis": (
        with_stmt("total", reduce=Reduce(("m",), "sum", "float32")),
        Rule.KNOWN_NAMES,
    ),
    "an empty axis": (with_stmt("total", axes=(Axis("i", ROWS), Axis("j", 0))), Rule.NOT_EMPTY),
    "an array without elements": (with_array("s", shape=(0,)), Rule.NOT_EMPTY),
    "another number of indices": (with_stmt("bent", body=read("p", ROW)), Rule.RANK),
    "one row too far": (with_stmt("bent", body=read("p", ROW + 1, COL)), Rule.IN_BOUNDS),
    "one row before": (with_stmt("bent", body=read("p", ROW - 1, COL)), Rule.IN_BOUNDS),
    "a guard that lets one row too many pass": (
        with_stmt("bent", body=read("p", ROW + 1, COL, guard=(below(ROW + 1, ROWS + 1),))),
        Rule.IN_BOUNDS,
    ),
    "a write that leaves its array": (
        with_stmt(
            "total", axes=(Axis("i", ROWS), Axis("j", COLUMNS)), output=Access("s", (ROW + 1,))
        ),
        Rule.IN_BOUNDS,
    ),
    "elements written twice": (
        with_stmt("total", output=Access("s", (ROW // 2,))),
        Rule.WRITTEN_ONCE,
    ),
    "a guarded write": (
        with_stmt("total", output=Access("s", (ROW,), (at_least(ROW, 0),))),
        Rule.UNGUARDED_WRITE,
    ),
    "a reduced axis in the output": (
        with_stmt("total", reduce=Reduce(("i", "j"), "sum", "float32")),
        Rule.REDUCED_NOT_WRITTEN,
    ),
    "a fold over nothing": (with_stmt("bent", reduce=Reduce((), "sum", "float32")), Rule.REDUCTION),
    "an unknown monoid": (
        with_stmt("total", reduce=Reduce(("j",), "first", "float32")),
        Rule.REDUCTION,
    ),
    "a read by another dtype": (
        with_stmt("bent", body=call("gelu", read("p", ROW, COL, dtype="float16"))),
        Rule.DTYPES,
    ),
    "a body of another dtype": (
        with_stmt("bent", body=Call("cast", (read("p", ROW, COL),), "float16")),
        Rule.DTYPES,
    ),
    "operands of two dtypes": (
        with_stmt(
            "bent", body=Call("add", (read("p", ROW, COL), Const(1.0, "float64")), "float32")
        ),
        Rule.DTYPES,
    ),
    "two dtypes to select from": (
        with_stmt(
            "bent", body=Select((at_least(ROW, 1),), read("p", ROW, COL), Const(0.0, "float16"))
        ),
        Rule.DTYPES,
    ),
    "a fold of integers": (
        with_stmt("total", body=Const(1, "int32"), reduce=Reduce(("j",), "sum", "int32")),
        Rule.DTYPES,
    ),
    "an unknown function": (
        with_stmt("bent", body=Call("sigma", (read("p", ROW, COL),), "float32")),
        Rule.FUNCTIONS,
    ),
    "another number of arguments": (
        with_stmt("bent", body=Call("add", (read("p", ROW, COL),), "float32")),
        Rule.FUNCTIONS,
    ),
    "an output named twice": (replace(PROGRAM, outputs=("y", "s", "y")), Rule.NO_ALIAS),
    "an input that is an output": (replace(PROGRAM, outputs=("y", "s", "a")), Rule.NO_ALIAS),
    "an output of another role": (with_array("y", role="intermediate"), Rule.ROLES),
    "an array that nobody writes": (
        replace(PROGRAM, arrays=(*PROGRAM.arrays, SPARE)),
        Rule.WRITTEN,
    ),
}

ALSO = {
    "a write that leaves its array": {Rule.WRITTEN_WHOLE},
    "elements written twice": {Rule.WRITTEN_WHOLE},
}
"""Cases that cannot break their rule alone."""


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_named(case):
    program, rule = BROKEN[case]
    found = {each.rule for each in find_violations(program)}
    assert found - ALSO.get(case, set()) == {rule}
    with pytest.raises(Malformed) as caught:
        check(program, made_by="test")
    assert rule.value in str(caught.value)


def test_every_rule_has_a_case():
    # The last five are bugs of public compilers and have tests of their own below.
    below_here = {
        Rule.GIVEN_NOT_WRITTEN,
        Rule.ONE_WRITER,
        Rule.DEFINED_BEFORE_USE,
        Rule.NO_SELF_READ,
        Rule.WRITTEN_WHOLE,
    }
    assert {rule for _, rule in BROKEN.values()} | below_here == set(Rule)


def test_the_sample_is_well_formed():
    assert find_violations(PROGRAM) == ()


def rules(program):
    return [each.rule for each in find_violations(program)]


def test_known_bug_a_producer_cut_to_what_its_consumer_needs():
    cut = replace(PRODUCT, axes=(Axis("i", ROWS), Axis("j", COLUMNS - 1), Axis("k", 5)))
    program = replace(PROGRAM, statements=(cut, BENT, TOTAL))
    assert rules(program) == [Rule.WRITTEN_WHOLE]
    by_constraint = with_stmt("product", constraints=(below(COL, COLUMNS - 1),))
    (violation,) = find_violations(by_constraint)
    assert violation.rule == Rule.WRITTEN_WHOLE
    assert violation.detail == f"p[0, {COLUMNS - 1}]"


def test_known_bug_an_input_overwritten():
    program = with_stmt("total", output=Access("a", (ROW, number(0))))
    assert Rule.GIVEN_NOT_WRITTEN in rules(program)


def test_known_bug_an_array_read_before_it_is_filled():
    program = replace(PROGRAM, statements=(BENT, PRODUCT, TOTAL))
    assert rules(program) == [Rule.DEFINED_BEFORE_USE]


def test_known_bug_a_second_producer_of_one_array():
    again = replace(PRODUCT, name="again")
    assert rules(replace(PROGRAM, statements=(PRODUCT, again, BENT, TOTAL))) == [Rule.ONE_WRITER]


def test_known_bug_a_recurrence_that_could_be_truncated_cannot_be_written():
    # p[i] = p[i - 1] + ...: a running sum through the array itself. Folds over a constrained
    # domain say the same without an order, and nothing can cut them short.
    running = with_stmt(
        "total",
        axes=(Axis("i", ROWS),),
        body=read("s", ROW - 1, guard=(at_least(ROW, 1),)),
        reduce=None,
    )
    assert rules(running) == [Rule.NO_SELF_READ]
    prefix = with_stmt(
        "total",
        axes=(Axis("i", ROWS), Axis("t", ROWS), Axis("j", COLUMNS)),
        body=read("y", axis("t"), COL),
        reduce=Reduce(("t", "j"), "sum", "float32"),
        constraints=(at_least(ROW, axis("t")),),
    )
    assert rules(prefix) == []


def test_guards_and_selections_make_reads_legal():
    inside = (at_least(ROW, 1), below(COL, COLUMNS - 1))
    shifted = read("p", ROW - 1, COL + 1, guard=inside)
    assert rules(with_stmt("bent", body=shifted)) == []
    selected = Select(inside, read("p", ROW - 1, COL + 1), Const(0.0, "float32"))
    assert rules(with_stmt("bent", body=selected)) == []


def test_a_permuted_or_interleaved_write_is_whole():
    turned = replace(BENT, output=Access("y", (number(ROWS - 1) - ROW, COL)))
    assert rules(replace(PROGRAM, statements=(PRODUCT, turned, TOTAL))) == []
    flat = replace(
        BENT,
        axes=(Axis("i", ROWS * COLUMNS),),
        output=Access("y", (ROW // COLUMNS, ROW % COLUMNS)),
        body=read("p", ROW // COLUMNS, ROW % COLUMNS),
    )
    assert rules(replace(PROGRAM, statements=(PRODUCT, flat, TOTAL))) == []


def test_axes_may_have_names_that_the_library_of_integer_sets_uses():
    odd = replace(
        BENT,
        axes=(Axis("max", ROWS), Axis("mod", COLUMNS)),
        output=Access("y", (number(ROWS - 1) - axis("max"), axis("mod"))),
        body=read("p", axis("max") + 1, axis("mod")),
    )
    found = find_violations(replace(PROGRAM, statements=(PRODUCT, odd, TOTAL)))
    assert [each.rule for each in found] == [Rule.IN_BOUNDS]
    assert f"max={ROWS - 1}" in found[0].detail
