"""What a rule is: a pattern, side conditions, and what stands in its place."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import Literal
from typing import TypeAlias

from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

Group = Literal["distribution", "folding", "cancellation", "dead", "reordering"]


@dataclass(frozen=True, slots=True)
class Found:
    """One place where a pattern fits.

    Attributes:
        root: The node that is replaced.
        inner: Nodes that the pattern looked through, in no order.
        parts: What the pattern named.
    """

    root: Node
    inner: tuple[Node, ...]
    parts: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.parts[name]


Pattern: TypeAlias = Callable[[Scene, Node], Iterator[Found]]
Replacement: TypeAlias = Callable[[Builder, Found], Ref]
Evidence: TypeAlias = Callable[[Scene, Found], str | None]


@dataclass(frozen=True, slots=True)
class Condition:
    """A side condition.

    Attributes:
        words: What must hold.
        evidence: Returns the facts by which it holds, in words, or None where it does not.
    """

    words: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Rule:
    """One identity of algebra, from left to right.

    Attributes:
        name: Unique among all rules.
        group: Which of the five.
        identity: The equation, and what changes for values that are not finite.
        pattern: Yields every place where the left side fits at a node, guard aside.
        guard: All must hold.
        replacement: Makes the right side; its result takes the root's place.
    """

    name: str
    group: Group
    identity: str
    pattern: Pattern
    guard: tuple[Condition, ...]
    replacement: Replacement


@dataclass(frozen=True, slots=True)
class Held:
    """A side condition that held.

    Attributes:
        words: Of the `Condition`.
        facts: By which it held.
    """

    words: str
    facts: str


def places(rule: Rule, scene: Scene, node: Node) -> Iterator[tuple[Found, tuple[Held, ...]]]:
    """Yield where a rule may be applied at a node, with the facts that permit it."""
    for found in rule.pattern(scene, node):
        held = []
        for each in rule.guard:
            facts = each.evidence(scene, found)
            if facts is None:
                break
            held.append(Held(each.words, facts))
        else:
            yield found, tuple(held)
