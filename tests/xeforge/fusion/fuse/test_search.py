"""Candidates, their order, and how long finding them takes at full size."""

import time
from dataclasses import replace

import pytest

from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.fuse.explain import explain
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.search import MOST_TRIALS
from xeforge.fusion.fuse.search import _Search
from xeforge.fusion.fuse.search import search
from xeforge.fusion.lower.program import lower

ROWS, DEEP, WIDE = 1024, 8192, 8192


def graph(*nodes, dtype="float16"):
    """Return a linear layer at full size and what follows it, each line one operator."""
    given = (
        Tensor("x", (ROWS, DEEP), dtype, "input"),
        Tensor("w", (WIDE, DEEP), dtype, "parameter"),
        Tensor("b", (WIDE,), dtype, "parameter"),
    )
    first = Node("linear", "linear", (Ref("x"), Ref("w"), Ref("b")), {}, (ROWS, WIDE), dtype)
    made, last = [first], "linear"
    for place, (op, args, shape) in enumerate(nodes):
        name = f"{op}_{place}"
        made.append(Node(name, op, (Ref(last), *args), {}, shape, dtype))
        last = name
    return Graph(given[:1], given[1:], tuple(made), (last,), "eval")


WHOLE = (ROWS, WIDE)
NORM = graph(
    ("group_norm", (256, Ref("b"), Ref("b"), 1e-5, True), WHOLE),
    ("sigmoid", (), WHOLE),
    ("mul", (Ref("x"),), WHOLE),
    ("silu", (), WHOLE),
    ("gelu", (), WHOLE),
)
SUM = graph(("sigmoid", (), WHOLE), ("sum", ((1,), True), (ROWS, 1)))
SOFTMAX = graph(("div", (2.0,), WHOLE), ("softmax", (1,), WHOLE))


@pytest.fixture(scope="module")
def found():
    return {
        name: search(lower(each), H200)
        for name, each in (("norm", NORM), ("sum", SUM), ("softmax", SOFTMAX))
    }


def families(candidate):
    return [each.family for each in candidate.plan.groups]


def test_the_unfused_plan_is_always_the_last(found):
    for candidates in found.values():
        *fused, last = candidates
        assert last.name == "unfused"
        assert all(len(each.statements) == 1 for each in last.plan.groups)
        seconds = [each.estimate.seconds for each in fused]
        assert seconds == sorted(seconds)


def test_a_group_norm_is_part_of_the_product_or_has_a_kernel(found):
    first, second, _ = found["norm"]
    assert families(first) == ["contraction"]
    assert (second.name, families(second)) == ("apart", ["contraction", "rows"])


def test_a_sum_over_many_columns_starts_in_the_product(found):
    first = found["sum"][0]
    assert families(first) == ["contraction", "rows"]
    assert first.plan.groups[0].stored == ("sum_1_parts",)
    # Neither the product nor what follows it reaches memory.
    assert first.estimate.moved_bytes < 0.8 * found["sum"][-1].estimate.moved_bytes
    assert any("128 terms at a time" in each for each in first.plan.notes)


def test_a_softmax_over_many_columns_is_a_kernel_of_rows(found):
    assert families(found["softmax"][0]) == ["contraction", "rows"]


def test_estimates_compare_with_the_program_as_it_was(found):
    for candidates in found.values():
        last = candidates[-1].estimate
        assert last.recompute_ratio == pytest.approx(1.0, rel=0.01)
        assert last.moved_bytes == last.bytes_before
        assert candidates[0].estimate.kernels < last.kernels


def test_a_full_size_graph_takes_less_than_a_second():
    for each in (NORM, SUM, SOFTMAX):
        program = lower(each)
        started = time.process_time()
        search(program, H200)
        assert time.process_time() - started < 1


def test_trials_have_an_end():
    searching = _Search(lower(NORM), replace(H200, bandwidth_bytes_per_s=1e15))
    searching.left = 3
    program = lower(NORM)
    state = searching.state(program, Limits(H200))
    searching.improved(state)
    assert searching.left == 0
    assert MOST_TRIALS < 100


def test_a_plan_is_explained(found):
    candidate = found["sum"][0]
    text = explain(candidate.plan, candidate.estimate)
    lines = text.splitlines()
    assert lines[0] == "6 statements in 2 kernels"
    assert any(line.startswith("traffic ") and " -> " in line for line in lines)
    assert "kernel linear_product (contraction)" in lines
    assert "  n         j_0 < 64, j_1 < 128" in lines
    assert any(line.startswith("  keeps     linear_product float32[8388608]") for line in lines)
    assert "  stores    sum_1_parts float32[65536]" in lines
    assert any(line.startswith("note: ") for line in lines)
