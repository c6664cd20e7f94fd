"""Folds along rows and down columns: how they read, and that they are right."""

from pathlib import Path

import pytest

from tests.xeforge.fusion.emit.triton.interpreted import printed_by
from tests.xeforge.fusion.emit.triton.sources import TARGET
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.search import search
from xeforge.fusion.lower.program import lower

CHILD = Path(__file__).with_name("fold_values.py")
TOLERANCES = {"float32": 1e-6, "float16": 1e-3}


@pytest.fixture(scope="module")
def values():
    return printed_by(CHILD)


@pytest.mark.parametrize("dtype", sorted(TOLERANCES))
def test_folds_are_right_in_every_form(values, dtype):
    errors = {name: each["error"] for name, each in values.items() if f" {dtype} " in name}
    assert len(errors) >= 6
    assert {name: each for name, each in errors.items() if not each <= TOLERANCES[dtype]} == {}


def test_all_forms_were_run(values):
    start = "softmax down float32"
    held, in_steps, in_parts = (e["text"] for name, e in values.items() if name.startswith(start))
    assert "LANES" in held
    assert "for start" not in held
    assert in_steps.count("for start") == 3
    assert "_parts_kernel[" in in_parts


def test_small_folds_ride_in_the_launch_of_a_large_one(values):
    texts = [each["text"] for name, each in values.items() if name.startswith("riders")]
    assert len(texts) == 3
    assert all("program = tl.program_id(0)\n    if program < " in text for text in texts)
    assert texts[0].count("_kernel[(") == 1


def large(shape, *op, kept):
    """Return the file for one operator on an input of a size that is not computed here."""
    given = Tensor("x", shape, "float16", "input")
    node = Node("y", op[0], (Ref("x"), *op[1:]), {}, kept, "float16")
    program = lower(Graph((given,), (), (node,), ("y",), "eval"))
    return emit(search(program, H200)[0].plan, (given,), TARGET)


def test_a_matrix_is_read_line_by_line_by_four_programs_for_each_multiprocessor():
    text = large((8192, 8192), "sum", (0,), kept=(8192,))
    assert "row = tl.program_id(0) * LANES + tl.arange(0, LANES)[None, :]" in text
    assert "column = start + tl.arange(0, BLOCK)[:, None]" in text
    assert "y_parts_kernel[(1024,)]" in text
    assert "LANES=64" in text


def test_a_softmax_down_columns_reads_them_once_where_they_fit():
    held = large((64, 256, 4096), "softmax", 1, kept=(64, 256, 4096))
    assert held.count("tl.load(") == 1
    long = large((16, 8192, 8192), "softmax", 1, kept=(16, 8192, 8192))
    assert long.count("tl.load(") == 3


def test_positions_past_the_range_of_32_bits_are_wide_along_both_dimensions():
    text = large((1 << 17, 1 << 15), "amax", (0,), kept=(1 << 15,))
    assert "tl.program_id(0).to(tl.int64)" in text
    assert "tl.arange(0, BLOCK)[:, None].to(tl.int64)" in text
