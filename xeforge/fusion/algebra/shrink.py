"""The same graph at small sizes.

Free axes become small; what is computed from them follows. Kernels, strides and paddings stay, and
so does whether an axis has size 1; groups become two or stay one. Axes grow until every window
fits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion.algebra.shapes import NoShape
from xeforge.fusion.algebra.shrinking.axes import Axis
from xeforge.fusion.algebra.shrinking.axes import CannotShrink
from xeforge.fusion.algebra.shrinking.axes import Retry
from xeforge.fusion.algebra.shrinking.axes import Sizes
from xeforge.fusion.algebra.shrinking.operators import at_sizes
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Tensor

__all__ = ["CannotShrink", "shrunk"]

_MOST_WALKS = 2000


@dataclass(slots=True)
class _Walk:
    """One attempt at the sizes of everything."""

    axes: dict[str, tuple[Axis, ...]]
    nodes: list[Node]


def shrunk(graph: Graph) -> Graph:
    """Return a graph with the same operators at small sizes.

    Raises:
        CannotShrink: No sizes were found; the message says what stands in the way.
    """
    sizes = Sizes()
    for _ in range(_MOST_WALKS):
        try:
            walk = _walked(graph, sizes)
        except Retry:
            continue
        except NoShape as error:
            raise CannotShrink(str(error)) from None
        return replace(
            graph,
            inputs=tuple(_resized(each, walk.axes) for each in graph.inputs),
            parameters=tuple(_resized(each, walk.axes) for each in graph.parameters),
            nodes=tuple(walk.nodes),
        )
    raise CannotShrink("sizes that fit were not found")


def _walked(graph: Graph, sizes: Sizes) -> _Walk:
    walk = _Walk({}, [])
    for tensor in (*graph.inputs, *graph.parameters):
        walk.axes[tensor.name] = tuple(
            sizes.axis(tensor.name, place, full) for place, full in enumerate(tensor.shape)
        )
    for node in graph.nodes:
        axes, changed = at_sizes(node, walk.axes, sizes)
        walk.axes[node.name] = axes
        walk.nodes.append(_at(node, axes, changed))
    return walk


def _at(node: Node, axes: tuple[Axis, ...], changed: Mapping[str, Arg]) -> Node:
    shape = tuple(each.size for each in axes)
    if not changed:
        return replace(node, shape=shape)
    named = {**bound(node), **changed}
    first = next(iter(named))
    return replace(node, args=(named.pop(first),), kwargs=named, shape=shape)


def _resized(tensor: Tensor, axes: Mapping[str, tuple[Axis, ...]]) -> Tensor:
    return replace(tensor, shape=tuple(each.size for each in axes[tensor.name]))
