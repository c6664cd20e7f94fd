"""Intermediate arrays lie as their lanes write them."""

from dataclasses import replace

import numpy as np
import pytest

from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import layouts
from xeforge.fusion.fuse import rows
from xeforge.fusion.interpret import interpret
from xeforge.fusion.lower.program import lower
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

N, R, K = 5, 3, 256


def summed_then_bent(*, order, dims, is_bent=True):
    """Return a sum over x (5, 3, 256) with its dimensions turned, and what reads it."""
    shape = tuple((N, R, K)[each] for each in order)
    kept = tuple(size for place, size in enumerate(shape) if place not in dims)
    nodes = [
        Node("turned", "permute", (Ref("x"), order), {}, shape, "float32"),
        Node("total", "sum", (Ref("turned"), dims), {}, kept, "float32"),
    ]
    if is_bent:
        nodes.append(Node("bent", "relu", (Ref("total"),), {}, kept, "float32"))
    last = nodes[-1].name
    given = Tensor("x", (N, R, K), "float32", "input")
    program = canonical.run(lower(Graph((given,), (), tuple(nodes), (last,), "eval")))
    first, *others = program.statements
    groups = [replace(rows.recognise(first), stored=(first.output.array,))]
    groups += [Group(each.name, "nest", {}, (each,), (each.output.array,)) for each in others]
    return Plan(program, tuple(groups))


def test_lanes_write_side_by_side_and_readers_follow():
    plan = summed_then_bent(order=(2, 0, 1), dims=(2,))
    total = plan.groups[0].stored[0]
    assert plan.program.arrays_by_name()[total].shape == (K, N)
    turned = layouts.run(plan, units=1)
    assert turned.program.arrays_by_name()[total].shape == (N, K)
    assert turned.notes == (f"{total} is laid out as its lanes write it",)
    assert turned.program.passes[-1] == layouts.NAME
    given = {"x": np.random.default_rng(0).normal(size=(N, R, K))}
    before, after = interpret(plan.as_program(), given), interpret(turned.as_program(), given)
    (name,) = plan.program.outputs
    np.testing.assert_allclose(after[name], before[name])
    assert after[name].shape == (K, N)


@pytest.mark.parametrize(
    ("order", "dims", "is_bent"),
    [
        ((0, 1, 2), (1,), True),  # lanes are at the end already
        ((0, 1, 2), (2,), True),  # no lanes: memory runs along what is folded
        ((2, 0, 1), (2,), False),  # an output lies as the caller wants it
    ],
)
def test_everything_else_stays_as_it_is(order, dims, is_bent):
    plan = summed_then_bent(order=order, dims=dims, is_bent=is_bent)
    assert layouts.run(plan, units=1) is plan
