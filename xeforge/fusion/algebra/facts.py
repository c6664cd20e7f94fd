"""What is known of each value of a graph without looking at any value.

Inputs and parameters may hold any numbers: their range and signs are unknown, always.
"""

import math
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xeforge.fusion.algebra.intervals import EVERYTHING
from xeforge.fusion.algebra.intervals import Interval
from xeforge.fusion.algebra.node_intervals import interval_of
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor

Sign = Literal["positive", "negative", "not negative", "not positive", "unknown"]

_AFFINE = frozenset({"add", "sub", "rsub", "mul", "div", "neg", "to", "sum", "mean", "cat", "pad"})
_FINITE_BINARY = frozenset({"add", "sub", "rsub", "mul", "minimum", "maximum"})
_MAY_OVERFLOW = frozenset({"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "tan"})
_MAY_OVERFLOW_TOO = frozenset({"reciprocal", "rsqrt", "sqrt", "div", "prod", "addcdiv"})
_BY_POSITION = frozenset({"prelu", "tril", "triu"})
"""Pointwise operators whose results differ where their operands are the same."""

_MULTILINEAR = frozenset({Family.CONTRACTION, Family.CONVOLUTION})


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one value.

    Attributes:
        interval: Where its elements lie, as far as they are no NaN.
        is_finite: No element is infinite or NaN, if everything given is finite and arithmetic is
            exact; overflow is the one way out.
        linear_in: Names of values of which it is an affine function.
        constant_along: Axes along which all elements are equal.
        ones: Axes of size 1.
        number: The one number that all elements are, where it is written in the graph.
    """

    interval: Interval = EVERYTHING
    is_finite: bool = False
    linear_in: frozenset[str] = frozenset()
    constant_along: frozenset[int] = frozenset()
    ones: frozenset[int] = frozenset()
    number: float | None = None

    @property
    def sign(self) -> Sign:
        """Sign of all elements."""
        if self.interval.low > 0:
            return "positive"
        if self.interval.high < 0:
            return "negative"
        if self.interval.low >= 0:
            return "not negative"
        return "not positive" if self.interval.high <= 0 else "unknown"


def facts_of(graph: Graph) -> Mapping[str, Facts]:
    """Return facts of everything in a graph, by name."""
    found: dict[str, Facts] = {}
    reached: dict[str, frozenset[str]] = {}
    for tensor in (*graph.inputs, *graph.parameters):
        found[tensor.name] = _given(tensor)
        reached[tensor.name] = frozenset({tensor.name})
    intervals = {name: each.interval for name, each in found.items()}
    values = graph.values()
    for node in graph.nodes:
        reads = [each for each in node.reads() if each in found]
        reached[node.name] = frozenset({node.name}).union(*(reached[each] for each in reads))
        shapes = {each: values[each].shape for each in reads}
        ones = frozenset(place for place, size in enumerate(node.shape) if size == 1)
        number = _number(node, found)
        intervals[node.name] = (
            interval_of(node, intervals, shapes) if number is None else Interval(number, number)
        )
        found[node.name] = Facts(
            interval=intervals[node.name],
            is_finite=_is_finite(node, [found[each] for each in reads]),
            linear_in=_linear_in(node, found, reached) | {node.name},
            constant_along=_constant_along(node, found, shapes) | ones,
            ones=ones,
            number=number,
        )
    return found


def _given(tensor: Tensor) -> Facts:
    number = None if tensor.value is None else float(tensor.value)
    interval = EVERYTHING if number is None else Interval(number, number)
    ones = frozenset(place for place, size in enumerate(tensor.shape) if size == 1)
    own = frozenset({tensor.name})
    return Facts(interval, number is None or math.isfinite(number), own, ones, ones, number)


def _number(node: Node, found: Mapping[str, Facts]) -> float | None:
    fixed = {"ones": 1.0, "zeros": 0.0, "ones_like": 1.0, "zeros_like": 0.0}
    if node.op in fixed:
        return fixed[node.op]
    args = bound(node)
    value = args.get("fill_value")
    if node.op == "full" and isinstance(value, int | float):
        return float(value)
    first = args.get("self")
    if node.op in {"expand", "view", "reshape"} and isinstance(first, Ref):
        return found[first.name].number
    return None


def _is_finite(node: Node, reads: Sequence[Facts]) -> bool:
    given = (*node.args, *node.kwargs.values())
    numbers = [each for each in given if isinstance(each, float)]
    if not all(each.is_finite for each in reads) or not all(map(math.isfinite, numbers)):
        return False
    if node.op in _MAY_OVERFLOW | _MAY_OVERFLOW_TOO:
        divisor = bound(node).get("other")
        return node.op == "div" and isinstance(divisor, int | float) and divisor != 0
    family = FAMILIES.get(node.op)
    if family is Family.NORM:
        eps = bound(node).get("eps")
        # The running variance may be negative; that of the values themselves may not.
        return isinstance(eps, int | float) and eps > 0 and not _is_eval_norm(node)
    return family in {
        *_MULTILINEAR,
        Family.POINTWISE,
        Family.LAYOUT,
        Family.POOL,
        Family.SOFTMAX,
    } or (node.op in {"sum", "mean", "amax", "amin", "max", "min", "logsumexp"})


def _is_eval_norm(node: Node) -> bool:
    args = bound(node)
    return node.op in {"batch_norm", "instance_norm"} and not (
        args.get("training") or args.get("use_input_stats")
    )


def _linear_in(
    node: Node, found: Mapping[str, Facts], reached: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    reads, family = node.reads(), FAMILIES.get(node.op)
    is_layout = family is Family.LAYOUT
    is_average = node.op.startswith(("avg_pool", "adaptive_avg"))
    if not (node.op in _AFFINE or family in _MULTILINEAR or is_layout or is_average):
        return frozenset()
    names = frozenset().union(*(reached[each] for each in reads)) if reads else frozenset()
    kept = set()
    for name in names:
        on = [each for each in reads if name in reached[each]]
        if any(name not in found[each].linear_in for each in on):
            continue
        factors = _factors(node, reads)
        if sum(each in factors for each in on) > 1 or (node.op == "div" and reads[0] not in on):
            continue
        if node.op == "div" and len(on) > 1:
            continue
        kept.add(name)
    return frozenset(kept)


def _factors(node: Node, reads: Sequence[str]) -> Sequence[str]:
    """Return the operands that are multiplied with each other."""
    if node.op in {"mul", "div"}:
        return reads
    family = FAMILIES.get(node.op)
    if family not in _MULTILINEAR:
        return ()
    args = bound(node)
    pairs = ("input", "weight", "other", "mat1", "mat2")
    named = [args.get(each) for each in pairs]
    own = args.get("self") if "other" in args else None
    return [each.name for each in (*named, own) if isinstance(each, Ref)]


def _constant_along(
    node: Node, found: Mapping[str, Facts], shapes: Mapping[str, Sequence[int]]
) -> frozenset[int]:
    rank, args, family = len(node.shape), bound(node), FAMILIES.get(node.op)
    if _number(node, found) is not None:
        return frozenset(range(rank))
    if family is Family.POINTWISE and node.op not in _BY_POSITION:
        axes = set(range(rank))
        for name in node.reads():
            lead = rank - len(shapes[name])
            own = {each + lead for each in found[name].constant_along}
            axes &= own | set(range(lead))
        return frozenset(axes)
    if node.op == "expand":
        return _expanded(node, found, shapes)
    source = args.get("self")
    if node.op == "unsqueeze" and isinstance(source, Ref):
        place = integers(args["dim"])[0] % rank
        return frozenset(each + (each >= place) for each in found[source.name].constant_along)
    return frozenset()


def _expanded(
    node: Node, found: Mapping[str, Facts], shapes: Mapping[str, Sequence[int]]
) -> frozenset[int]:
    (name,) = node.reads()
    lead = len(node.shape) - len(shapes[name])
    own = {each + lead for each in found[name].constant_along}
    return frozenset(own | set(range(lead)))
