"""Orders and schedules: legal ones pass, others come with a point that shows why not."""

import itertools

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.samples import COLUMNS
from tests.xeforge.fusion.samples import DEPTH
from tests.xeforge.fusion.samples import PROGRAM
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import number
from xeforge.fusion.legality import may_reorder
from xeforge.fusion.legality import may_schedule

ROW, COL, DEEP = axis("i"), axis("j"), axis("k")


def test_only_the_order_of_definitions_is_legal_in_a_chain():
    legal = [
        order
        for order in itertools.permutations(["product", "bent", "total"])
        if may_reorder(PROGRAM, order) is None
    ]
    assert legal == [("product", "bent", "total")]


def test_a_counterexample_names_both_points():
    found = may_reorder(PROGRAM, ["bent", "product", "total"])
    assert (found.array, found.source, found.target) == ("p", "product", "bent")
    assert found.source_point["i"] == found.target_point["i"]
    assert found.source_point["j"] == found.target_point["j"]
    assert "has not written to p yet" in str(found)


def test_independent_statements_may_change_places():
    recorder = Recorder()
    x = recorder.input(3)
    left, right = recorder.op("exp", x), recorder.op("tanh", x)
    both = recorder.op("add", left, right)
    program = program_of(recorder, both)
    first, second, last = (each.name for each in program.statements)
    assert may_reorder(program, [second, first, last]) is None
    assert may_reorder(program, [second, last, first]).source == first


def test_what_only_padding_separates_is_seen_through():
    # The reader takes padding everywhere: it needs nothing, and may run first.
    recorder = Recorder()
    x = recorder.input(1, 1, 3)
    bent = recorder.op("relu", x)
    padded = recorder.op("pad", bent, [-3, 3], "constant", 0.0)
    program = program_of(recorder, padded)
    names = [each.name for each in program.statements]
    assert may_reorder(program, names[::-1]) is None


@pytest.mark.parametrize("order", [["product"], ["product", "bent", "bent"], ["a", "b", "c"]])
def test_an_order_names_each_statement_once(order):
    with pytest.raises(ValueError, match="once"):
        may_reorder(PROGRAM, order)


def test_an_epilogue_may_run_in_the_same_tile_after_the_last_term():
    fused = {
        "product": (ROW, COL, number(0), DEEP),
        "bent": (ROW, COL, number(1), number(0)),
        "total": (ROW, COL, number(2), number(0)),
    }
    assert may_schedule(PROGRAM, fused) is None


def test_known_bug_an_epilogue_inside_the_fold_reads_unfinished_sums():
    inside = {
        "product": (ROW, COL, DEEP, number(0)),
        "bent": (ROW, COL, number(0), number(1)),
        "total": (ROW, COL, number(DEPTH), number(0)),
    }
    found = may_schedule(PROGRAM, inside)
    assert (found.source, found.target) == ("product", "bent")
    assert found.source_point["k"] >= 1


def test_known_bug_a_row_total_read_before_the_row_is_done():
    recorder = Recorder("float32")
    x = recorder.input(4, COLUMNS)
    program = program_of(recorder, recorder.op("softmax", x, 1))
    high, total, quotient = (each.name for each in program.statements)
    row, col, fold = axis("i"), axis("j"), axis("r")
    by_row = {
        high: (row, number(0), fold),
        total: (row, number(1), fold),
        quotient: (row, number(2), col),
    }
    assert may_schedule(program, by_row) is None
    in_one_pass = {
        high: (row, fold, number(0)),
        total: (row, fold, number(1)),
        quotient: (row, number(COLUMNS), col),
    }
    found = may_schedule(program, in_one_pass)
    assert (found.source, found.target) == (high, total)
    assert found.source_point["r"] > found.target_point["r"]


def test_tiles_of_rows_are_legal_and_tiles_of_columns_cut_the_row_total():
    tiles = {
        "product": (ROW // 2, number(0), ROW, COL),
        "bent": (ROW // 2, number(1), ROW, COL),
        "total": (ROW // 2, number(2), ROW, COL),
    }
    assert may_schedule(PROGRAM, tiles) is None
    backwards = {**tiles, "bent": (ROW * -1, number(1), ROW, COL)}
    assert may_schedule(PROGRAM, backwards) is not None


def test_points_at_the_same_time_may_not_need_each_other():
    same = dict.fromkeys(("product", "bent", "total"), (ROW, COL))
    assert may_schedule(PROGRAM, same) is not None


def test_times_are_as_many_for_each_statement():
    with pytest.raises(ValueError, match="as many"):
        may_schedule(PROGRAM, {"product": (ROW,), "bent": (ROW, COL), "total": (ROW,)})
    with pytest.raises(ValueError, match="has times"):
        may_schedule(PROGRAM, {"product": (ROW,)})
