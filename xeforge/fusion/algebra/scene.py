"""A graph as rules see it: values by name, their facts, and who reads them."""

from collections.abc import Mapping
from functools import cached_property

from xeforge.fusion.algebra.facts import Facts
from xeforge.fusion.algebra.facts import facts_of
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor


class Scene:
    """Looks things up in one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: Mapping[str, Tensor | Node] = graph.values()

    @cached_property
    def facts(self) -> Mapping[str, Facts]:
        """Facts by name."""
        return facts_of(self.graph)

    def node(self, arg: Arg) -> Node | None:
        """Return the node that an argument refers to, if it does."""
        found = self.values.get(arg.name) if isinstance(arg, Ref) else None
        return found if isinstance(found, Node) else None

    def shape(self, arg: Arg) -> tuple[int, ...]:
        """Return the shape of an argument; a number has none."""
        return self.values[arg.name].shape if isinstance(arg, Ref) else ()

    def dtype(self, arg: Arg) -> str:
        """Return the dtype of an argument that is a tensor."""
        return self.values[arg.name].dtype if isinstance(arg, Ref) else ""

    def of(self, arg: Arg) -> Facts:
        """Return the facts of an argument, numbers included."""
        if isinstance(arg, Ref):
            return self.facts[arg.name]
        return Facts(number=float(arg)) if isinstance(arg, int | float) else Facts()

    def number(self, arg: Arg) -> float | None:
        """Return the number that an argument is written as, if it is."""
        return self.of(arg).number

    def source(self, node: Node) -> Ref | None:
        """Return the first operand, where it is a tensor."""
        args = bound(node)
        first = args.get("self", args.get("input"))
        return first if isinstance(first, Ref) else None

    def varies_along(self, arg: Arg, rank: int) -> frozenset[int]:
        """Return the axes of a result along which an operand broadcast to it may change."""
        shape = self.shape(arg)
        constant = self.of(arg).constant_along
        lead = rank - len(shape)
        return frozenset(each + lead for each in range(len(shape)) if each not in constant)
