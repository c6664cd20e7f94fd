"""Stretches that taps meet, against a count by hand."""

import pytest

from tests.xeforge.fusion.algebra.cases import Case
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.build import live
from xeforge.fusion.algebra.proof import outputs_of
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.taps import Slide
from xeforge.fusion.algebra.taps import Stretch
from xeforge.fusion.algebra.taps import tap_sums


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
def test_each_tap_meets_what_a_count_finds(stride, padding, dilation):
    slide, size, windows = Slide(3, stride, padding, dilation), 7, 4
    met, met_by = slide.met(size, windows), slide.met_by(size, windows)
    for tap in range(3):
        reads = {i: i * stride + tap * dilation - padding for i in range(windows)}
        reads = {i: place for i, place in reads.items() if 0 <= place < size}
        if met is not None:
            assert list(reads.values()) == list(range(met[tap].start, met[tap].stop, met[tap].step))
            assert list(reads) == list(range(met_by[tap].start, met_by[tap].stop))
        elif not reads:
            break
    else:
        assert met is not None


def test_a_tap_that_reads_padding_only_is_reported():
    assert Slide(3, 3, 1, 1).met(1, 1) is None
    assert Slide(3, 3, 1, 1).met_by(1, 1) is None


def test_what_is_common_is_summed_once():
    case = Case()
    x = case.input(2, 9)
    graph = case.graph(case.op("relu", x))
    builder = Builder(Scene(graph), graph.nodes[0])
    stretches = [Stretch(0, 7), Stretch(1, 8), Stretch(2, 9), Stretch(1, 9, 2)]
    made = tap_sums(builder, x, 1, stretches)
    from dataclasses import replace

    nodes = (*graph.nodes, *builder.made)
    sums = [each for each in builder.made if each.op == "sum"]
    assert max(sizes for each in sums if (sizes := builder.shape(each.args[0])[1])) == 5
    (found,) = outputs_of(live(replace(graph, nodes=nodes, outputs=(made.name,))), case.given())
    value = case.value(x).numpy()
    for place, each in enumerate(stretches):
        wanted = value[:, each.start : each.stop : each.step].sum(1)
        assert abs(found[:, place] - wanted).max() < 1e-12
