"""Makes the nodes that take a root's place.

Halves are summed in float32, and what a rule folds keeps that precision unless it is sure to stay
in the range of its dtype: operands of a product or of a pointwise operator may be wider than its
result, which is rounded once, as before.
"""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from xeforge.errors import XeForgeError
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.shapes import infer
from xeforge.fusion.algebra.signature import bind
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor

_Key = tuple[str, str, str, str, int | None]


class BadReplacement(XeForgeError):
    """A rule made something that cannot stand where its root stood."""

    code = "bad_replacement"


class Builder:
    """Adds nodes before one root of a graph; equal nodes are made once.

    Args:
        scene: The graph before.
        root: Whose place is taken.
    """

    def __init__(self, scene: Scene, root: Node) -> None:
        self.scene = scene
        self.root = root
        self.made: list[Node] = []
        self._new: dict[str, Node] = {}
        self._taken = set(scene.values)
        self._known: dict[_Key, Ref] = {}
        for node in scene.graph.nodes:
            if node.name == root.name:
                break
            self._known[_key(node)] = Ref(node.name)

    @property
    def wide(self) -> str:
        """Dtype in which the root's operator computes."""
        return "float32" if self.root.dtype in {"float16", "bfloat16"} else self.root.dtype

    def shape(self, arg: Arg) -> tuple[int, ...]:
        """Return the shape of an argument, new or old."""
        return self._value(arg).shape if isinstance(arg, Ref) else ()

    def dtype(self, arg: Arg) -> str:
        """Return the dtype of an argument that is a tensor, new or old."""
        return self._value(arg).dtype if isinstance(arg, Ref) else ""

    def op(
        self, op: str, *args: Arg, dtype: str | None = None, named: Mapping[str, Arg] | None = None
    ) -> Ref:
        """Add an operator; its dtype is the root's unless another is named."""
        kwargs = dict(named or {})
        shape = infer(op, bind(op, args, kwargs), self.shape)
        node = Node("new", op, args, kwargs, shape, dtype or self.root.dtype, self.root.line)
        key = _key(node)
        if key in self._known:
            return self._known[key]
        name = f"{self.root.name}_{op}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self._new[name] = replace(node, name=name)
        self.made.append(self._new[name])
        self._known[key] = Ref(name)
        return Ref(name)

    def again(self, node: Node, dtype: str | None = None, /, **changed: Arg) -> Ref:
        """Add an operator like another with other arguments; those that are None are left out."""
        args = {**bind(node.op, node.args, node.kwargs), **changed}
        named = {name: each for name, each in args.items() if each is not None}
        first = next(iter(named))
        return self.op(node.op, named.pop(first), dtype=dtype, named=named)

    def view(self, value: Ref, shape: Sequence[int]) -> Ref:
        """Lay elements out in another shape; nothing is added where they already are."""
        if self.shape(value) == tuple(shape):
            return value
        return self.op("view", value, tuple(shape), dtype=self.dtype(value))

    def permute(self, value: Ref, order: Sequence[int]) -> Ref:
        """Reorder axes."""
        if tuple(order) == tuple(range(len(order))):
            return value
        return self.op("permute", value, tuple(order), dtype=self.dtype(value))

    def widened(self, value: Ref) -> Ref:
        """Convert a half to the dtype in which arithmetic happens."""
        if self.dtype(value) == self.wide:
            return value
        return self.op("to", value, self.wide, dtype=self.wide)

    def fold(self, op: str, value: Ref, axes: Sequence[int], dtype: str | None = None) -> Ref:
        """Sum or average over axes, which stay as size 1; the result is wide unless said."""
        if not axes or all(self.shape(value)[each] == 1 for each in axes):
            return value
        dtype = dtype or self.wide
        named: dict[str, Arg] = {} if self.dtype(value) == dtype else {"dtype": dtype}
        return self.op(op, value, tuple(axes), True, dtype=dtype, named=named)

    def operand_dtype(self, op: str, value: Ref) -> str:
        """Return the dtype for a sum or mean that is an operand of a product with many results.

        A mean lies in the range of what is averaged and keeps its dtype, so that halves remain
        operands for matrix units; a sum of halves is wide.
        """
        return self.dtype(value) if op == "mean" else self.wide

    def part(self, value: Ref, axis: int, start: int, stop: int, step: int = 1) -> Ref:
        """Take every `step`-th element of a stretch of an axis."""
        if (start, stop, step) == (0, self.shape(value)[axis], 1):
            return value
        return self.op("slice", value, axis, start, stop, step, dtype=self.dtype(value))

    def times(self, value: Ref, factor: float) -> Ref:
        """Multiply by a number; the result is wide."""
        return value if factor == 1 else self.op("mul", value, factor, dtype=self.wide)

    def finish(self, value: Ref) -> Graph:
        """Return the graph in which a value stands where the root stood.

        Raises:
            BadReplacement: It has another shape or dtype.
        """
        found = self._value(value)
        if found.shape != self.root.shape or found.dtype != self.root.dtype:
            raise BadReplacement(
                f"{self.root.name} is {self.root.dtype} {list(self.root.shape)}, "
                f"not {found.dtype} {list(found.shape)}"
            )
        graph = self.scene.graph
        place = graph.nodes.index(self.root)
        made, later = list(self.made), list(graph.nodes[place + 1 :])
        outputs = graph.outputs
        if value.name in self._new:
            # The result keeps the root's name, so that whoever reads it need not change.
            made = [
                replace(each, name=self.root.name)
                if each.name == value.name
                else _renamed(each, value.name, self.root.name)
                for each in made
            ]
        else:
            later = [_renamed(each, self.root.name, value.name) for each in later]
            outputs = tuple(value.name if each == self.root.name else each for each in outputs)
        nodes = (*graph.nodes[:place], *made, *later)
        return live(replace(graph, nodes=nodes, outputs=outputs))

    def _value(self, ref: Ref) -> Tensor | Node:
        return self._new.get(ref.name) or self.scene.values[ref.name]


def live(graph: Graph) -> Graph:
    """Return the graph without what no output needs."""
    wanted = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if node.name in wanted:
            kept.append(node)
            wanted.update(node.reads())
    read = wanted | set(graph.updated)
    parameters = tuple(each for each in graph.parameters if each.name in read)
    return replace(graph, nodes=tuple(reversed(kept)), parameters=parameters)


def _renamed(node: Node, old: str, new: str) -> Node:
    if old not in node.reads():
        return node
    args = tuple(_exchanged(each, old, new) for each in node.args)
    kwargs = {name: _exchanged(each, old, new) for name, each in node.kwargs.items()}
    return replace(node, args=args, kwargs=kwargs)


def _exchanged(value: Arg, old: str, new: str) -> Arg:
    if isinstance(value, tuple):
        return tuple(_exchanged(each, old, new) for each in value)
    return Ref(new) if value == Ref(old) else value


def _key(node: Node) -> _Key:
    return (node.op, repr(node.args), repr(sorted(node.kwargs.items())), node.dtype, node.index)
