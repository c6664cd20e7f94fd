"""Bodies in place of reads."""

from dataclasses import replace

import numpy as np
import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion import wellformed
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import inline
from xeforge.fusion.fuse.inline import Edge
from xeforge.fusion.interpret import interpret
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt


def inlined(recorder, output, producer, *more):
    """Inline one producer into the statement of the output; compare; return both programs."""
    program = canonical.run(program_of(recorder, output, *more))
    result = inline.run(program, Edge(producer.name, output.name))
    wellformed.check(result, made_by="test")
    wanted, got = (interpret(each, recorder.given()) for each in (program, result))
    for name, values in wanted.items():
        np.testing.assert_array_equal(got[name], values)
    return program, result


def names(program):
    return [each.name for each in program.statements]


def test_a_producer_that_nobody_else_reads_goes():
    recorder = Recorder()
    y = recorder.op("relu", recorder.input(3, 4))
    z = recorder.op("permute", y, [1, 0])
    z = recorder.op("neg", z)
    _, result = inlined(recorder, z, y)
    assert names(result) == [z.name]
    assert y.name not in result.arrays_by_name()


def test_a_producer_that_is_an_output_stays():
    recorder = Recorder()
    y = recorder.op("relu", recorder.input(3, 4))
    z = recorder.op("neg", y)
    _, result = inlined(recorder, z, y, y)
    assert set(names(result)) == {y.name, z.name}


def test_padding_stays_what_it_was_and_not_what_the_producer_makes_of_it():
    recorder = Recorder()
    y = recorder.op("exp", recorder.input(3, 4))
    z = recorder.op("pad", y, [1, 2], "constant", 0.25)
    _, result = inlined(recorder, z, y)
    (stmt,) = result.statements
    assert isinstance(stmt.body, Select)


def test_positions_and_selections_move_with_the_body():
    recorder = Recorder()
    y = recorder.op("tril", recorder.input(4, 4), 0)
    z = recorder.op("sum", y, [0])
    inlined(recorder, z, y)


def test_windows_read_the_body_at_every_place():
    recorder = Recorder()
    y = recorder.op("mul", recorder.input(1, 2, 5, 5), 3.0)
    z = recorder.op("max_pool2d", y, [3, 3], [2, 2], [1, 1])
    inlined(recorder, z, y)


def test_a_fold_is_not_inlined():
    recorder = Recorder()
    y = recorder.op("sum", recorder.input(3, 4), [1])
    z = recorder.op("neg", y)
    program = program_of(recorder, z)
    assert not inline.may_inline(program, Edge(y.name, z.name))
    with pytest.raises(ValueError, match="not pointwise"):
        inline.run(program, Edge(y.name, z.name))


def dear_edge(*readers):
    recorder = Recorder()
    y = recorder.op("tanh", recorder.input(4, 4))
    z = [make(recorder, y) for make in readers]
    program = canonical.run(program_of(recorder, *z))
    return program, Edge(y.name, z[0].name)


def test_a_dear_producer_goes_into_its_only_reader_where_it_is_read_once():
    assert inline.may_inline(*dear_edge(lambda recorder, y: recorder.op("sum", y, [1])))


def test_a_dear_producer_is_not_computed_twice():
    def off(recorder, y):
        return recorder.op("sub", y, recorder.op("permute", y, [1, 0]))

    def product(recorder, y):
        return recorder.op("mul", y, y)

    assert not inline.may_inline(*dear_edge(off))
    assert not inline.may_inline(*dear_edge(product, off))
    assert inline.may_inline(*dear_edge(product))


def test_a_body_does_not_grow_without_end():
    recorder = Recorder()
    x = y = recorder.input(4)
    for _ in range(30):
        y = recorder.op("add", y, x)
    program = canonical.run(program_of(recorder, y))
    count = 0
    while len(program.statements) > 1:
        edge = Edge(program.statements[-2].name, program.statements[-1].name)
        if not inline.may_inline(program, edge):
            break
        program = inline.run(program, edge)
        count += 1
    assert 5 < count < 29 or len(program.statements) == 1
    assert sum(1 for _ in program.statements[-1].reads()) <= inline.MOST_PARTS


def test_constraints_of_a_producer_keep_it_where_it_is():
    recorder = Recorder()
    y = recorder.op("relu", recorder.input(4))
    z = recorder.op("neg", y)
    program = program_of(recorder, z)
    first, second = program.statements
    assert isinstance(first, Stmt)
    from xeforge.fusion.affine import at_least
    from xeforge.fusion.affine import axis

    cut = replace(first, constraints=(at_least(axis("i"), 0),))
    program = replace(program, statements=(cut, second))
    assert not inline.may_inline(program, Edge(y.name, z.name))
