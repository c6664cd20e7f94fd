"""Dependences: exactly the pairs of points that share an element."""

import itertools

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.samples import COLUMNS
from tests.xeforge.fusion.samples import PROGRAM
from xeforge.fusion.deps import flow_dependences
from xeforge.fusion.ir import Access
from xeforge.fusion.isl import Relation


def pairs_by_hand(program, access, source, target):
    """Run through all points of both statements and compare what they touch."""
    found = set()
    writes = {}
    for point in itertools.product(*(range(each.extent) for each in source.parallel_axes())):
        names = dict(zip((each.name for each in source.parallel_axes()), point, strict=True))
        writes[tuple(each.evaluate(names) for each in source.output.index)] = point
    for point in itertools.product(*(range(each.extent) for each in target.axes)):
        names = dict(zip((each.name for each in target.axes), point, strict=True))
        if all(each.evaluate(names) for each in (*access.guard, *target.constraints)):
            element = tuple(each.evaluate(names) for each in access.index)
            found.add((writes[element], point))
    return found


def assert_exact(program):
    statements = {each.name: each for each in program.statements}
    dependences = flow_dependences(program)
    assert dependences
    for each in dependences:
        source, target = statements[each.source], statements[each.target]
        wanted = pairs_by_hand(program, each.access, source, target)
        assert not each.relation.is_empty()
        got = set()
        for point in {pair[1] for pair in wanted}:
            names = dict(zip((axis.name for axis in target.axes), point, strict=True))
            needed = each.relation.needs(names)
            got |= {(tuple(one.values()), point) for one in needed}
        assert got == wanted
        first, second = each.relation.sample()
        assert (tuple(first.values()), tuple(second.values())) in wanted


def test_a_product_its_epilogue_and_row_sums():
    found = flow_dependences(PROGRAM)
    assert [(each.source, each.target) for each in found] == [
        ("product", "bent"),
        ("bent", "total"),
    ]
    assert found[0].access == Access("p", PROGRAM.statements[0].output.index)
    assert_exact(PROGRAM)
    row = [found[1].relation.needs({"i": 2, "j": column}) for column in range(COLUMNS)]
    assert row == [({"i": 2, "j": column},) for column in range(COLUMNS)]


def test_windows_with_padding_and_views():
    recorder = Recorder()
    x, weight = recorder.input(1, 2, 4), recorder.parameter(2, 2, 3)
    conv = recorder.op("conv1d", recorder.op("relu", x), weight, None, [1], [1])
    pooled = recorder.op("max_pool1d", conv, [2], [2])
    turned = recorder.op("view", pooled, [4])
    assert_exact(program_of(recorder, recorder.op("softmax", turned, 0)))


def test_a_transposed_convolution_reads_only_where_the_remainder_fits():
    recorder = Recorder()
    x, weight = recorder.input(1, 1, 3), recorder.parameter(1, 2, 4)
    bent = recorder.op("relu", x)
    program = program_of(recorder, recorder.op("conv_transpose1d", bent, weight, None, [2], [1]))
    assert_exact(program)


def test_what_reads_nothing_that_is_written_depends_on_nothing():
    recorder = Recorder()
    x = recorder.input(3)
    assert flow_dependences(program_of(recorder, recorder.op("relu", x))) == ()


def test_a_relation_without_pairs_has_no_sample():
    relation = flow_dependences(PROGRAM)[0].relation
    empty = Relation(relation.pairs.subtract(relation.pairs), relation.source, relation.target)
    assert empty.is_empty()
    assert empty.sample() is None
