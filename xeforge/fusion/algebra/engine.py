"""Applies rules for as long as they lower the modelled work.

Of all places where a rule may be applied, the one that saves most is taken; among equals the first
node, then the first rule. Where no single rule saves anything, two are tried together: some only
make room for the next. Every step or pair lowers the work, so the engine ends, and a graph that it
has finished stays as it is.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.proof import TOLERANCE
from xeforge.fusion.algebra.proof import Proof
from xeforge.fusion.algebra.proof import prove
from xeforge.fusion.algebra.proof import unproven
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Held
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.rule import places
from xeforge.fusion.algebra.rules import RULES
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.shapes import NoShape
from xeforge.fusion.algebra.work import APART
from xeforge.fusion.algebra.work import Model
from xeforge.fusion.algebra.work import Work
from xeforge.fusion.algebra.work import work_of
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import check_graph

LEAST_GAIN = 1e-12
"""Part of the work that a step must save: more than rounding of the sum."""
MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A graph and how it came about.

    Attributes:
        before, after: Equal graphs.
        proofs: One per rewrite that was kept, in order.
        refused: Rewrites whose two sides were measured to differ; none of them was kept.
        work_before, work_after: By the model.
    """

    before: Graph
    after: Graph
    proofs: tuple[Proof, ...]
    refused: tuple[Proof, ...]
    work_before: Work
    work_after: Work


@dataclass(frozen=True, slots=True)
class _Step:
    """One rewrite and the graph it leads to."""

    rule: Rule
    found: Found
    held: tuple[Held, ...]
    graph: Graph


def rewrite(
    graph: Graph,
    rules: Sequence[Rule] = RULES,
    *,
    model: Model = APART,
    is_measured: bool = True,
) -> Rewritten:
    """Return an equal graph with less work.

    Args:
        graph: As captured.
        rules: In order of preference among equals.
        model: By which work is counted.
        is_measured: Compute both sides of each rewrite at small sizes in float64, and refuse it
            where they differ. Takes seconds; without, proofs say that nothing was measured.
    """
    search = _Search(rules, model)
    current = graph
    proofs: list[Proof] = []
    refused: list[Proof] = []
    while len(proofs) < MOST_STEPS:
        path = search.path(current)
        if not path:
            break
        steps = _proven(current, path, is_measured=is_measured)
        failed = next((each for each in steps if _is_wrong(each)), None)
        if failed is not None:
            refused.append(failed)
            search.banned.add((failed.rule, failed.root))
            continue
        proofs += steps
        current = path[-1].graph
    return Rewritten(
        graph,
        current,
        tuple(proofs),
        tuple(refused),
        work_of(graph, model),
        work_of(current, model),
    )


def _proven(graph: Graph, path: Sequence[_Step], *, is_measured: bool) -> list[Proof]:
    make, proofs = (prove if is_measured else unproven), []
    for each in path:
        proofs.append(make(each.rule, each.found, each.held, graph, each.graph))
        check_graph(each.graph)
        graph = each.graph
    return proofs


def _is_wrong(proof: Proof) -> bool:
    return proof.residual is not None and not proof.residual <= TOLERANCE


@dataclass(slots=True)
class _Search:
    """Looks for what lowers the work of a graph.

    Attributes:
        rules, model: As in `rewrite`.
        banned: Rule and node of rewrites that were measured to be wrong.
    """

    rules: Sequence[Rule]
    model: Model
    banned: set[tuple[str, str]] = field(default_factory=set)

    def path(self, graph: Graph) -> tuple[_Step, ...]:
        """Return the step that saves most, or two that do together, or nothing."""
        limit = work_of(graph, self.model).seconds * (1 - LEAST_GAIN)
        steps = list(self.steps(graph))
        best = self._best(((each,) for each in steps), limit)
        if best:
            return best
        pairs = ((first, second) for first in steps for second in self.steps(first.graph))
        return self._best(pairs, limit)

    def _best(self, paths: Iterable[tuple[_Step, ...]], limit: float) -> tuple[_Step, ...]:
        best: tuple[_Step, ...] = ()
        for path in paths:
            seconds = work_of(path[-1].graph, self.model).seconds
            if seconds < limit:
                best, limit = path, seconds
        return best

    def steps(self, graph: Graph) -> Iterator[_Step]:
        """Yield every single rewrite."""
        scene = Scene(graph)
        for node in graph.nodes:
            for rule in self.rules:
                if (rule.name, node.name) in self.banned:
                    continue
                for found, held in places(rule, scene, node):
                    made = applied(rule, scene, found)
                    if made is not None:
                        yield _Step(rule, found, held, made)


def applied(rule: Rule, scene: Scene, found: Found) -> Graph | None:
    """Return the graph with a rule applied, guard aside; None where operands do not fit."""
    builder = Builder(scene, found.root)
    try:
        return builder.finish(rule.replacement(builder, found))
    except NoShape:
        return None
