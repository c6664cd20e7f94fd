"""Records of rewrites: what was replaced, why it was allowed, and how far both sides differ."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xeforge.errors import XeForgeError
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.build import live
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Group
from xeforge.fusion.algebra.rule import Held
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.rule import places
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.shapes import NoShape
from xeforge.fusion.algebra.shrink import CannotShrink
from xeforge.fusion.algebra.shrink import shrunk
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.interpret import interpret
from xeforge.fusion.lower.program import lower

TOLERANCE = 1e-9
"""Largest residual of a rewrite that is kept."""
SEEDS = (1, 2)
_TINY = 1e-30
_CANCELLED = 1e-6


@dataclass(frozen=True, slots=True)
class Proof:
    """One application of a rule.

    Attributes:
        rule, group, identity: Of the `Rule`.
        root: Name of the node that was replaced.
        before: Nodes that the rule looked at, the root last.
        after: Nodes that it made, the new root last; empty where an existing value took its place.
        conditions: Side conditions with the facts by which they held.
        residual: Largest difference of both sides in float64 at small sizes, relative to the
            largest magnitude of the left side; None where it was not measured.
        sizes: Shapes of what the small graphs were given, by name.
        unmeasured: Why there is no residual; empty where there is one.
    """

    rule: str
    group: Group
    identity: str
    root: str
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    conditions: tuple[Held, ...]
    residual: float | None
    sizes: Mapping[str, tuple[int, ...]]
    unmeasured: str = ""


def unproven(
    rule: Rule, found: Found, held: tuple[Held, ...], before: Graph, after: Graph
) -> Proof:
    """Record an application without computing anything."""
    known = {each.name: each for each in before.nodes}
    # Nodes that only read what took the root's place are not the rule's.
    made = tuple(
        each
        for each in after.nodes
        if known.get(each.name) != each and (each.name not in known or each.name == found.root.name)
    )
    looked_at = tuple(each for each in before.nodes if each in (*found.inner, found.root))
    return Proof(
        rule.name,
        rule.group,
        rule.identity,
        found.root.name,
        looked_at,
        made,
        held,
        None,
        {},
        "not asked for",
    )


def prove(rule: Rule, found: Found, held: tuple[Held, ...], before: Graph, after: Graph) -> Proof:
    """Record an application and measure it.

    The rule is applied once more, to the part of the graph that its root depends on, at small
    sizes; both sides are lowered and interpreted in float64 with random values.
    """
    proof = unproven(rule, found, held, before, after)
    cone = live(replace(before, outputs=(found.root.name,), updated=()))
    try:
        small = shrunk(cone)
        other = _again(rule, small, found.root.name)
        if other is None:
            return replace(proof, unmeasured="the rule does not hold at small sizes")
        beside = tuple(dict.fromkeys(each for node in proof.before for each in node.reads()))
        draws = [random_values(small, seed) for seed in SEEDS]
        worst = max(residual(small, other, each, beside) for each in draws)
    except CannotShrink as error:
        return replace(proof, unmeasured=str(error))
    except XeForgeError as error:
        return replace(proof, unmeasured=f"cannot be interpreted: {error}")
    given = {each.name: each.shape for each in (*small.inputs, *small.parameters)}
    return replace(proof, residual=worst, sizes=given, unmeasured="")


def _again(rule: Rule, graph: Graph, root: str) -> Graph | None:
    scene = Scene(graph)
    node = scene.values[root]
    if not isinstance(node, Node):
        return None
    for found, _ in places(rule, scene, node):
        builder = Builder(scene, node)
        try:
            return builder.finish(rule.replacement(builder, found))
        except NoShape:
            continue
    return None


def residual(
    before: Graph,
    after: Graph,
    values: Mapping[str, NDArray[Any]],
    beside: tuple[str, ...] = (),
) -> float:
    """Return the largest difference of two graphs' outputs in float64.

    It is relative to the largest magnitude of the first graph's output. Where that is nothing but
    what is left of larger values that cancel, a millionth of these takes its place.

    Args:
        before: Left side.
        after: Right side.
        values: All that both are given, by name.
        beside: Names of those larger values in `before`.
    """
    count = len(before.outputs)
    seen = outputs_of(replace(before, outputs=(*before.outputs, *beside)), values)
    least = max([_TINY, *(_CANCELLED * _magnitude(each) for each in seen[count:])])
    worst = 0.0
    for left, right in zip(seen[:count], outputs_of(after, values), strict=True):
        if left.shape != right.shape or (np.isfinite(left) != np.isfinite(right)).any():
            return math.inf
        kept = np.isfinite(left)
        worst = max(worst, _magnitude((left - right)[kept]) / max(_magnitude(left[kept]), least))
    return worst


def _magnitude(values: NDArray[Any]) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def outputs_of(graph: Graph, values: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """Lower a graph and interpret it in float64."""
    program = lower(graph)
    known = {each.name for each in program.arrays if each.role in {"input", "parameter"}}
    given = {name: each for name, each in values.items() if name in known}
    found = interpret(program, given, exact=True)
    return [np.asarray(found[name], np.float64) for name in program.outputs]


def random_values(graph: Graph, seed: int) -> dict[str, NDArray[Any]]:
    """Draw everything a graph is given: between -2 and 2, running variances between 0.5 and 2."""
    random = np.random.default_rng(seed)
    variances = {
        each.name
        for node in graph.nodes
        if node.op in {"batch_norm", "instance_norm"}
        and isinstance(each := bound(node).get("running_var"), Ref)
    }
    values = {}
    for tensor in (*graph.inputs, *graph.parameters):
        if tensor.value is None:
            low, high = (0.5, 2.0) if tensor.name in variances else (-2.0, 2.0)
            values[tensor.name] = random.uniform(low, high, tensor.shape)
    return values
