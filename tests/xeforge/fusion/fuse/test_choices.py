"""What the search may change."""

from dataclasses import replace

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import choices
from xeforge.fusion.fuse.estimate import estimate
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.machine import H200


def three_folds():
    """Return sums of one function's values along each dimension: three kernels read it."""
    recorder = Recorder("float16")
    value = recorder.op("relu", recorder.input(4, 6, 8))
    outputs = [recorder.op("sum", value, [dim]) for dim in range(3)]
    return canonical.run(program_of(recorder, *outputs)), value.name


def test_a_producer_goes_into_all_its_readers_at_once():
    program, name = three_folds()
    change = next(choices.inlinings(grow(program, Limits(H200))))
    assert {each.producer for each in change.edges} == {name}
    assert len(change.edges) == 2
    assert str(change).endswith(f"compute {name} themselves")
    made = grow(change.applied(program), Limits(H200))
    assert all(name not in group.stored for group in made.groups)


def test_folds_are_split_only_where_that_saves_more_than_a_launch():
    recorder = Recorder("float16")
    program = canonical.run(program_of(recorder, recorder.op("sum", recorder.input(2, 4096), [1])))
    plan = grow(program, Limits(H200))
    cost = estimate(plan, program, H200)
    assert cost.groups[0].busy_ratio < 1
    assert list(choices.splits(plan, cost, H200)) == []
    quick = replace(H200, launch_seconds=0.0)
    (found,) = choices.splits(plan, cost, quick)
    assert [name for name, _ in found.terms] == [each.name for each in program.statements[:1]]
