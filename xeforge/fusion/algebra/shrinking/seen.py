"""One operator with the axes of its operands, while sizes are chosen."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import TypeAlias

from xeforge.fusion.algebra.shapes import NoShape
from xeforge.fusion.algebra.shapes import infer
from xeforge.fusion.algebra.shrinking.axes import Axis
from xeforge.fusion.algebra.shrinking.axes import CannotShrink
from xeforge.fusion.algebra.shrinking.axes import Sizes
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

Axes: TypeAlias = tuple[Axis, ...]


@dataclass(slots=True)
class Seen:
    """One operator.

    Attributes:
        node: As captured.
        known: Axes of everything before it.
        sizes: What is chosen.
        args: Its arguments by name, as captured.
        changed: Arguments that must change with the sizes.
    """

    node: Node
    known: Mapping[str, Axes]
    sizes: Sizes
    args: Mapping[str, Arg] = field(default_factory=dict)
    changed: dict[str, Arg] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.args = bound(self.node)

    def axes(self, name: str) -> Axes:
        """Return the axes of an operand; of a number or nothing, none."""
        found = self.args.get(name)
        return self.known[found.name] if isinstance(found, Ref) else ()

    @property
    def first(self) -> Axes:
        """Axes of the first operand."""
        return self.axes("self") or self.axes("input")

    def match(self, name: str, wanted: Sequence[Axis]) -> None:
        """Ask that an operand, if given, has these axes."""
        found = self.axes(name)
        if found and len(found) == len(wanted):
            for own, other in zip(found, wanted, strict=True):
                self.sizes.agree((own, other))

    def follow(self, places: Sequence[int], needs: Sequence[Axis]) -> Axes:
        """Return the result's axes where those at some places are computed by the schema's rule.

        They stay of size 1, or larger than that, as in the captured graph.
        """
        args = {**self.args, **self.changed}
        try:
            shape = infer(self.node.op, args, self._shape)
        except NoShape:
            self.sizes.grow(needs)
            raise
        found = []
        for place, (size, full) in enumerate(zip(shape, self.node.shape, strict=True)):
            if place in places and (size == 1) != (full == 1):
                self.sizes.grow(needs)
            behind = frozenset(each for axis in needs for each in axis.needs)
            found.append(Axis(size, full, None, behind))
        return tuple(found)

    def refuse(self, why: str) -> CannotShrink:
        """Return the error to raise."""
        return CannotShrink(f"{self.node.op} {why}")

    def _shape(self, arg: Arg) -> tuple[int, ...]:
        return tuple(each.size for each in self.known[arg.name]) if isinstance(arg, Ref) else ()
