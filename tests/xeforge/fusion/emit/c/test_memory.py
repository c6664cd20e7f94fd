"""Places of intermediates: no two that live at once overlap."""

from tests.xeforge.fusion.emit.c.programs import fused
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.fusion.emit.c.memory import lay_out
from xeforge.fusion.emit.c.memory import size_bytes
from xeforge.fusion.plan import unfused


def lifetimes(plan):
    arrays = plan.program.arrays_by_name()
    found = {}
    for at, group in enumerate(plan.groups):
        for name in group.stored:
            if arrays[name].role == "intermediate":
                found[name] = [at, at]
        for name in group.given():
            if name in found:
                found[name][1] = at
    return found


def test_arrays_that_live_at_once_do_not_overlap():
    shared = 0
    for seed in range(30):
        grower = Grower(seed, 9)
        program = program_of(grower.recorder, *grower.outputs())
        for plan in (unfused(program), fused(program)):
            arrays, layout, alive = program.arrays_by_name(), lay_out(plan), lifetimes(plan)
            assert set(layout.offsets) == set(alive)
            places = {
                name: (start, start + size_bytes(arrays[name]))
                for name, start in layout.offsets.items()
            }
            for name, (low, high) in places.items():
                assert low % 64 == 0
                assert high <= layout.size_bytes
                for other, (other_low, other_high) in places.items():
                    if other == name or high <= other_low or other_high <= low:
                        continue
                    shared += 1
                    first, second = sorted((alive[name], alive[other]))
                    assert first[1] < second[0]
    assert shared
