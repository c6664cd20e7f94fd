"""Small groups in the launch of a large one."""

from dataclasses import replace

import pytest

from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.fuse import riders
from xeforge.fusion.fuse.estimate import estimate
from xeforge.fusion.fuse.explain import explain
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.invariants import BrokenPlan
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.search import search
from xeforge.fusion.lower.program import lower


def program(*, length=64, first="b"):
    """Return sums of a matrix and of a vector, and what adds them up at the end."""
    given = (
        Tensor("x", (4096, 4096), "float32", "input"),
        Tensor("b", (length,), "float32", "parameter"),
    )
    nodes = {
        "x": Node("columns", "sum", (Ref("x"), (0,)), {}, (4096,), "float32"),
        "b": Node("total", "sum", (Ref("b"), (0,)), {}, (), "float32"),
    }
    made = [nodes.pop(first), *nodes.values()]
    last = Node("y", "add", (Ref("columns"), Ref("total")), {}, (4096,), "float32")
    return lower(Graph(given[:1], given[1:], (*made, last), ("y",), "eval"))


@pytest.mark.parametrize("first", ["x", "b"])
def test_a_vector_is_folded_in_the_launch_of_a_matrix(first):
    plan = search(program(first=first), H200)[0].plan
    assert list(plan.riders) == ["total_sum" if "total_sum" in plan.riders else "total"]
    check_plan(plan)


def test_the_model_counts_launches():
    made = program()
    plan = next(each.plan for each in search(made, H200) if each.name == "fused")
    found, apart = (estimate(p, made, H200) for p in (plan, replace(plan, riders={})))
    assert found.kernels == apart.kernels - 1
    assert found.seconds <= apart.seconds - H200.launch_seconds
    assert ", in the launch of " in explain(plan, found)


def test_large_groups_and_processors_keep_their_launches():
    assert riders.run(grow(program(length=1 << 15), Limits(H200))).riders == {}
    assert all(each.plan.riders == {} for each in search(program(), CPU))
    assert search(program(), H200)[-1].plan.riders == {}


def test_a_plan_whose_rider_is_late_is_broken():
    plan = search(program(), H200)[0].plan
    rider, carrier = next(iter(plan.riders.items()))
    last = plan.groups[-1].name
    with pytest.raises(BrokenPlan, match="cannot ride with"):
        check_plan(replace(plan, riders={rider: last}))
    with pytest.raises(BrokenPlan, match="waits for"):
        check_plan(replace(plan, riders={last: carrier}))
    with pytest.raises(BrokenPlan, match="one of them is no group"):
        check_plan(replace(plan, riders={rider: "nothing"}))


def test_riders_of_one_launch_share_no_array():
    given = (
        Tensor("x", (4096, 4096), "float32", "input"),
        Tensor("b", (8, 16), "float32", "parameter"),
    )
    nodes = (
        Node("columns", "sum", (Ref("x"), (0,)), {}, (4096,), "float32"),
        Node("down", "sum", (Ref("b"), (0,)), {}, (16,), "float32"),
        Node("along", "sum", (Ref("b"), (1,)), {}, (8,), "float32"),
    )
    outputs = tuple(each.name for each in nodes)
    plan = search(lower(Graph(given[:1], given[1:], nodes, outputs, "eval")), H200)[0].plan
    first, second = plan.riders.values()
    assert first != second
    with pytest.raises(BrokenPlan, match="share arrays"):
        check_plan(replace(plan, riders=dict.fromkeys(plan.riders, first)))
