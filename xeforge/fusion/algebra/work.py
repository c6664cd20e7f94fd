"""How much work a graph is, operator by operator: bytes moved and arithmetic, as seconds.

Each operator reads its operands and writes its result once; views are free. The rates are a large
accelerator's, to weigh bytes against arithmetic, and starting values only: which of two plans is
faster is measured elsewhere.
"""

import math
from dataclasses import dataclass

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import spread
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

BYTES_PER_S = 4.0e12
MATRIX_FLOPS_PER_S = 6.0e14
OTHER_FLOPS_PER_S = 3.0e13

LAUNCH_S = 4.0e-6

_CONSTANTS = frozenset({"full", "ones", "zeros"})
_WRITTEN_LAYOUTS = frozenset({"cat", "stack", "pad"})
_PASSES = {Family.NORM: 3, Family.SOFTMAX: 3}
"""How often an operator reads its operand: statistics first."""
_FLOPS = {Family.NORM: 8, Family.SOFTMAX: 8, Family.REDUCTION: 1}


@dataclass(frozen=True, slots=True)
class Model:
    """What becomes of operators that could be joined.

    Attributes:
        joins_pointwise: A pointwise operator is computed with its operand of the same shape, if
            nobody else reads that: it is neither written nor read.
        launch_s: Seconds to start whatever is computed on its own.
    """

    joins_pointwise: bool
    launch_s: float


APART = Model(joins_pointwise=False, launch_s=0.0)
"""Each operator runs alone."""

JOINED = Model(joins_pointwise=True, launch_s=LAUNCH_S)
"""Epilogues are free of traffic: what only moves them into weights is then no gain."""


@dataclass(frozen=True, slots=True)
class Work:
    """Of one operator or of a whole graph.

    Attributes:
        moved_bytes: Read and written.
        matrix_flops: Of contractions and convolutions.
        other_flops: Of everything else.
        launch_seconds: To start what is computed.
    """

    moved_bytes: int = 0
    matrix_flops: int = 0
    other_flops: int = 0
    launch_seconds: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.moved_bytes + other.moved_bytes,
            self.matrix_flops + other.matrix_flops,
            self.other_flops + other.other_flops,
            self.launch_seconds + other.launch_seconds,
        )

    @property
    def seconds(self) -> float:
        """Modelled time: all of it in sequence, nothing hidden behind anything."""
        return (
            self.moved_bytes / BYTES_PER_S
            + self.matrix_flops / MATRIX_FLOPS_PER_S
            + self.other_flops / OTHER_FLOPS_PER_S
            + self.launch_seconds
        )


def work_of(graph: Graph, model: Model = APART) -> Work:
    """Return the work of all operators."""
    scene = Scene(graph)
    joined = _joined(scene) if model.joins_pointwise else frozenset()
    total = Work()
    for node in graph.nodes:
        total += node_work(scene, node, joined, model.launch_s)
    return total


def _joined(scene: Scene) -> frozenset[str]:
    """Return the nodes that are computed where their one reader is."""
    readers: dict[str, list[Node]] = {}
    for node in scene.graph.nodes:
        for name in set(node.reads()):
            readers.setdefault(name, []).append(node)
    return frozenset(
        node.name
        for node in scene.graph.nodes
        if node.name not in scene.graph.outputs
        and not _is_free(node)
        and [each.shape for each in readers.get(node.name, ()) if _is_pointwise(each)]
        == [node.shape]
        and len(readers[node.name]) == 1
    )


def node_work(
    scene: Scene, node: Node, joined: frozenset[str] = frozenset(), launch_s: float = 0.0
) -> Work:
    """Return the work of one operator.

    Args:
        scene: Its graph.
        node: Which.
        joined: Nodes that are neither written nor read.
        launch_s: Seconds to start it, unless it is one of these.
    """
    if _is_free(node):
        return Work()
    family = FAMILIES.get(node.op, Family.POINTWISE)
    names = list(dict.fromkeys(node.reads()))
    passes = 1 if _is_pointwise(node) else _PASSES.get(family, 1)
    if family is Family.SOFTMAX and bound(node).get("is_bounded"):
        passes -= 1
    if node.op == "logsumexp" and not bound(node).get("is_bounded"):
        passes += 1
    moved = sum(_bytes(scene, each) for each in names if each not in joined)
    moved += (passes - 1) * (_bytes(scene, names[0]) if names else 0)
    if node.name not in joined:
        moved += math.prod(node.shape) * DTYPES[node.dtype].size_bytes
    launch = 0.0 if node.name in joined else launch_s
    matrix = _matrix_flops(scene, node, family)
    other = 0 if matrix else _other_flops(scene, node, family)
    return Work(moved, matrix, other, launch)


def _is_free(node: Node) -> bool:
    is_view = FAMILIES.get(node.op) is Family.LAYOUT and node.op not in _WRITTEN_LAYOUTS
    return is_view or node.op in _CONSTANTS


def _is_pointwise(node: Node) -> bool:
    """Say whether each element depends on one element of the operand; so in a norm in eval mode."""
    args = bound(node)
    if node.op in {"batch_norm", "instance_norm"}:
        return not (args.get("training") or args.get("use_input_stats"))
    return FAMILIES.get(node.op) is Family.POINTWISE and node.op not in _CONSTANTS


def _bytes(scene: Scene, name: str) -> int:
    value = scene.values[name]
    size = DTYPES[value.dtype].size_bytes
    if isinstance(value, Node) and value.op in {"expand", *_CONSTANTS}:
        constant = scene.facts[name].constant_along
        return size * math.prod(
            each for place, each in enumerate(value.shape) if place not in constant
        )
    return size * math.prod(value.shape)


def _matrix_flops(scene: Scene, node: Node, family: Family) -> int:
    args = bound(node)
    if family is Family.CONTRACTION:
        left = args.get("input", args.get("mat1", args.get("self")))
        shape = scene.shape(left)
        return 2 * math.prod(node.shape) * (shape[-1] if shape else 1)
    if family is Family.CONVOLUTION:
        weight = scene.shape(args.get("weight"))
        source = scene.shape(args.get("input"))
        at = source if "transpose" in node.op else node.shape
        # Per position of the smaller side, every tap of every pair of channels.
        return 2 * at[0] * math.prod(at[2:]) * math.prod(weight)
    if family is Family.ATTENTION:
        return (
            4
            * math.prod(node.shape)
            * scene.shape(node.args[1] if len(node.args) > 1 else None)[-2]
        )
    return 0


def _other_flops(scene: Scene, node: Node, family: Family) -> int:
    written = math.prod(node.shape)
    if family is Family.POOL:
        source = scene.source(node)
        rank = int(node.op[-2])
        if node.op.startswith("adaptive"):
            return math.prod(scene.shape(source))
        return written * math.prod(spread(bound(node).get("kernel_size"), rank, 1))
    read = [math.prod(scene.shape(Ref(each))) for each in node.reads()]
    each = _FLOPS.get(family, 1)
    if node.op in {"softmax", "log_softmax", "logsumexp"} and bound(node).get("is_bounded"):
        each -= 1
    return each * max([written, *read])
