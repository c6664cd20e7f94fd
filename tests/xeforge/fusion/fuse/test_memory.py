"""Along which axes kernels of rows walk."""

from dataclasses import replace

import pytest

from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import rows
from xeforge.fusion.fuse.estimate import estimate
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.memory import fetched_ratio
from xeforge.fusion.fuse.memory import walk_of
from xeforge.fusion.fuse.search import search
from xeforge.fusion.lower.program import lower
from xeforge.fusion.plan import Plan

UNITS = 132


def fold(*shape, dims, order=None, dtype="float16"):
    """Return the group of a sum, the arrays of its program, and the program; nothing is run."""
    nodes, value = [], "x"
    if order is not None:
        shape, value = tuple(shape[each] for each in order), "turned"
        nodes = [Node(value, "permute", (Ref("x"), tuple(order)), {}, shape, dtype)]
    given = Tensor("x", _before(shape, order), dtype, "input")
    kept = tuple(size for place, size in enumerate(shape) if place not in dims)
    nodes.append(Node("total", "sum", (Ref(value), tuple(dims)), {}, kept, dtype))
    program = canonical.run(lower(Graph((given,), (), tuple(nodes), ("total",), "eval")))
    return rows.recognise(program.statements[0]), program.arrays_by_name(), program


def _before(shape, order):
    if order is None:
        return shape
    return tuple(shape[order.index(place)] for place in range(len(shape)))


def walked(*shape, units=UNITS, **options):
    group, arrays, _ = fold(*shape, **options)
    return walk_of(group, arrays, units=units)


def extents(axes):
    return [each.extent for each in axes]


def test_rows_that_lie_together_are_walked_along():
    assert walked(64, 256, dims=[1]).lanes == 1


def test_columns_of_a_matrix_are_walked_down_side_by_side():
    assert walked(64, 4096, dims=[0], units=1).lanes == 128


def test_the_row_axis_that_memory_runs_along_comes_last():
    walk = walked(8, 16, 512, dims=[1], order=[2, 1, 0], units=1)
    assert extents(walk.rows) == [8, 512]
    assert (extents(walk.columns), walk.lanes) == ([16], 256)


def test_columns_come_in_the_order_of_memory():
    walk = walked(8, 6, 512, dims=[0, 1], order=[2, 0, 1])
    assert extents(walk.columns) == [8, 512]
    assert walk.lanes == 1


def test_statistics_of_channels_are_read_along_the_pictures():
    walk = walked(4, 3, 8, 8, dims=[0, 2, 3])
    assert (extents(walk.columns), walk.lanes) == ([4, 8, 8], 1)


def test_a_fold_over_channels_takes_pixels_side_by_side_across_lines():
    walk = walked(4, 300, 20, 20, dims=[1], units=1)
    assert (extents(walk.rows), walk.lanes) == ([4, 20, 20], 128)


def test_few_neighbours_and_many_columns_make_narrow_tiles():
    assert walked(1 << 16, 3, dims=[0]).lanes == 4


@pytest.mark.parametrize(("dtype", "least"), [("float16", 64), ("float32", 32)])
def test_where_programs_are_few_lanes_still_fill_a_line(dtype, least):
    assert walked(4096, 256, dims=[0], dtype=dtype).lanes == least


def test_few_columns_leave_room_for_more_lanes():
    assert walked(4, 1 << 20, dims=[0]).lanes == 1024


def test_one_element_of_each_sector_costs_the_sector():
    group, arrays, program = fold(8192, 8192, dims=[0])
    walk = walk_of(group, arrays, units=UNITS)
    read = program.statements[0].reads()[0].access
    assert fetched_ratio(read, arrays[read.array], walk) == 1
    alone = replace(walk, lanes=1)
    assert fetched_ratio(read, arrays[read.array], alone) == 16


def test_the_model_knows_that_a_walk_down_is_fast():
    group, _, program = fold(8192, 8192, dims=[0])
    plan = Plan(program, (replace(group, stored=program.outputs),))
    found = estimate(plan, program, replace(H200, units=1)).groups[0]
    traffic = found.moved_bytes / H200.bandwidth_bytes_per_s
    assert found.seconds == pytest.approx(traffic, rel=0.01)


@pytest.mark.parametrize(
    ("shape", "dims"),
    [((8192, 8192), [0]), ((16, 1 << 20), [1]), ((1 << 24,), [0]), ((2, 1 << 16, 256), [1])],
)
def test_long_folds_are_split_until_the_machine_is_full(shape, dims):
    *_, program = fold(*shape, dims=dims)
    best = search(program, H200)[0]
    assert [each.family for each in best.plan.groups] == ["rows", "rows"]
    first, second = best.estimate.groups
    assert first.busy_ratio > 0.9
    assert second.seconds < first.seconds / 4
