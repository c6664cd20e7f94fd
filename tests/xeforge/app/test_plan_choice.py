"""Which kernels are handed out: what fits the device, and where there is one the fastest."""

from dataclasses import replace

import pytest

from knowledge.load import find_device
from xeforge.app.plan_choice import PlanChoice
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import Conditions
from xeforge.domain.samples import PairedSamples
from xeforge.domain.submission import SourceFile
from xeforge.errors import CandidateRaised
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor

DEVICE = find_device("nvidia-h200")
GRAPH = Graph(
    (Tensor("x", (512, 256), "float16", "input"),),
    (Tensor("w", (256, 256), "float16", "parameter", path="lin.weight"),),
    (
        Node("linear", "linear", (Ref("x"), Ref("w")), {}, (512, 256), "float16", 3),
        Node("relu", "relu", (Ref("linear"),), {}, (512, 256), "float16", 4),
    ),
    ("relu",),
    "eval",
)
FILE = SourceFile("ref.py", "class Model: pass")
WORKLOAD = Workload("w", "w", (), (), "float16", {})


@pytest.fixture
def problem():
    return Problem(FILE, FILE, (WORKLOAD,), "nvidia-h200", "cpu")


class Builder:
    """Says of each source in turn how much shared memory it takes."""

    is_interpreted = True

    def __init__(self, *sizes):
        self.sizes = list(sizes)
        self.sources = []

    def build(self, _problem, source, _workloads):
        self.sources.append(source)
        size = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        return BuildEvidence((replace(REPORT, shared_bytes=size),))


class Card(Builder):
    """Times sources too: each takes what a function says of the order in which it was built."""

    is_interpreted = False

    def __init__(self, seconds, *, fails=(), wrong=()):
        super().__init__(1000)
        self.seconds = seconds
        self.fails = fails
        self.wrong = wrong
        self.timed = []

    def measure(self, _problem, first, second, workloads, _plan):
        one, other = self.sources.index(first), self.sources.index(second)
        self.timed.append((one, other))
        if other in self.fails:
            raise CandidateRaised("it raised", kind="RuntimeError")
        times = [self.seconds(each) for each in (one, other)]
        return (samples(*times, workloads[0].name, int(other in self.wrong)),)


def samples(first, second, name, wrong):
    """Return thirty quiet pairs."""
    one, other = (tuple(each * (1 + i % 3 * 1e-4) for i in range(30)) for each in (first, second))
    quiet = Conditions()
    return PairedSamples(
        name, 1.0, one, other, one, other, one, one, None, None, 0.1, 0.1, 2, wrong, None, quiet
    )


def compilation():
    return compile_graph(GRAPH, DEVICE, Options(proofs=False))


def chosen(problem, *sizes):
    builder, made = Builder(*sizes), compilation()
    return builder, made, PlanChoice(problem, DEVICE, builder, WORKLOAD).choose(made)


def raced(problem, *arguments, **options):
    card = Card(*arguments, **options)
    return card, PlanChoice(problem, DEVICE, card, WORKLOAD).choose(compilation())


REPORT = BuildReport("k", "w", {}, 4, 3, 32, 0, 0)


def test_the_first_that_fits_is_taken(problem):
    builder, made, found = chosen(problem, 1000)
    assert found.plan == made.built[0].name
    assert found.source == made.built[0].source
    assert found.passed_over == ()
    assert len(builder.sources) == 1


def test_other_tiles_are_tried_before_other_plans(problem):
    builder, made, found = chosen(problem, 300_000, 250_000, 200_000)
    assert found.plan == made.built[0].name
    assert found.source == builder.sources[2]
    assert len(set(builder.sources)) == 3
    assert "needs 300,000 bytes of on-chip memory" in found.passed_over[0]


def test_where_nothing_fits_nothing_is_handed_out(problem):
    builder, made, found = chosen(problem, 10**6)
    assert found is None
    assert len(builder.sources) > len(made.built)


def test_on_a_device_the_fastest_is_taken(problem):
    card, found = raced(problem, lambda place: 1e-4 if place == 2 else 2e-4)
    assert found.source == card.sources[2]
    assert found.seconds == pytest.approx(1e-4, rel=0.01)
    assert found.timed == len(card.sources)
    assert card.timed[:3] == [(0, 1), (0, 2), (2, 3)], "the winner meets all that follow"
    assert sum("times as long" in each for each in found.passed_over) > 1


def test_what_is_not_faster_for_sure_does_not_win(problem):
    card, found = raced(problem, lambda place: 1e-4 - place * 1e-8)
    assert found.source == card.sources[0]


def test_no_plan_is_timed_in_all_its_tiles(problem):
    card, _ = raced(problem, lambda _: 1e-4)
    assert 3 < len(card.sources) <= 9


def test_what_raises_or_is_wrong_while_timed_is_passed_over(problem):
    card, found = raced(problem, lambda place: 1e-4 / (1 + place), fails=(1,), wrong=(2,))
    assert found.source == card.sources[-1]
    assert any("not timed: it raised" in each for each in found.passed_over)
    assert any("wrong outputs while timed" in each for each in found.passed_over)


def test_nothing_is_timed_where_nothing_fits(problem):
    card = Card(lambda _: 1e-4)
    card.sizes = [10**6]
    assert PlanChoice(problem, DEVICE, card, WORKLOAD).choose(compilation()) is None
    assert card.timed == []
