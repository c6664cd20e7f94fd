"""Shows that a rule holds where it fires, and would be wrong where it does not."""

import random

import numpy as np

from tests.xeforge.fusion.graphs import Recorder
from xeforge.errors import XeForgeError
from xeforge.fusion.algebra.engine import applied
from xeforge.fusion.algebra.proof import outputs_of
from xeforge.fusion.algebra.proof import residual
from xeforge.fusion.algebra.rule import places
from xeforge.fusion.algebra.rules import RULES
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.front.graph import check_graph

RULE = {each.name: each for each in RULES}
SEEDS = range(4)


class Case(Recorder):
    """A graph with random sizes and values; `choice` draws whatever else varies."""

    def __init__(self, seed=0):
        super().__init__(seed=seed)
        self.choice = random.Random(seed)

    def size(self, low=2, high=5):
        return self.choice.randint(low, high)

    def sizes(self, count):
        return [self.size() for _ in range(count)]

    def some(self, items):
        """Draw some of them, at least one, in order."""
        return sorted(self.choice.sample(list(items), self.choice.randint(1, len(items))))

    def maybe(self, *shape):
        """Draw a parameter or nothing."""
        return [self.parameter(*shape)] if self.choice.random() < 0.5 else []


def rewritten(name, graph):
    """Return every graph that a rule makes of another in one step, guard included."""
    scene = Scene(graph)
    return [
        applied(RULE[name], scene, found)
        for node in graph.nodes
        for found, _ in places(RULE[name], scene, node)
    ]


def fires(name, case, *outputs):
    """The rule applies, and both sides agree with Torch; returns the last rewritten graph."""
    graph = case.graph(*outputs)
    made = rewritten(name, graph)
    assert made, f"{name} does not fire"
    for each in made:
        check_graph(each)
        assert residual(graph, each, case.given()) < 1e-12
        for got, output in zip(outputs_of(each, case.given()), outputs, strict=True):
            wanted = case.value(output).to(float_dtype(case)).numpy()
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
    return made[-1]


def float_dtype(case):
    return case.torch_dtype("float64")


def stays(name, case, *outputs):
    """The pattern fits and the guard forbids; without the guard, the values would differ."""
    rule, graph = RULE[name], case.graph(*outputs)
    assert rewritten(name, graph) == []
    scene = Scene(graph)
    found = [each for node in graph.nodes for each in rule.pattern(scene, node)]
    assert found, "not even the pattern fits"
    worst = [_difference(rule, scene, graph, each, case) for each in found]
    assert max(worst) > 1e-3


def forbids(name, case, *outputs):
    """The pattern fits and the guard forbids."""
    rule, graph = RULE[name], case.graph(*outputs)
    scene = Scene(graph)
    assert any(list(rule.pattern(scene, node)) for node in graph.nodes)
    assert rewritten(name, graph) == []


def _difference(rule, scene, graph, found, case):
    try:
        made = applied(rule, scene, found)
        return 0.0 if made is None else residual(graph, made, case.given())
    except (XeForgeError, ZeroDivisionError):
        return 0.0  # cannot even be made: shows nothing


def ops(graph):
    return [each.op for each in graph.nodes]
