"""Where the elements of each node lie, from where its operands' elements lie."""

import functools
import math
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeAlias

from xeforge.fusion.algebra import intervals
from xeforge.fusion.algebra.intervals import EVERYTHING
from xeforge.fusion.algebra.intervals import Interval
from xeforge.fusion.algebra.shapes import reduced_axes
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.algebra.signature import spread
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

Known: TypeAlias = Mapping[str, Interval]
Shapes: TypeAlias = Mapping[str, Sequence[int]]

_UNIT = Interval(0.0, 1.0)
_NOT_NEGATIVE = Interval(low=0.0)
_FIXED: Mapping[str, Interval] = {
    "softmax": _UNIT,
    "log_softmax": Interval(high=0.0),
    "var": _NOT_NEGATIVE,
    "std": _NOT_NEGATIVE,
    "linalg_vector_norm": _NOT_NEGATIVE,
}
_KEEPS = frozenset({"mean", "amax", "amin", "max", "min"})


def interval_of(node: Node, known: Known, shapes: Shapes) -> Interval:
    """Return where the elements of a node lie.

    Args:
        node: Which.
        known: Of the values that it reads.
        shapes: Of these.
    """
    args, family = bound(node), FAMILIES.get(node.op)
    first = _operand(args.get("self", args.get("input")), known)
    if node.op in _FIXED:
        return _FIXED[node.op]
    if node.op in _BINARY:
        second = intervals.multiplied(
            _operand(args.get("other"), known), _operand(args.get("alpha", 1), known)
        )
        return _BINARY[node.op](first, second)
    if family is Family.POINTWISE:
        return _activation(node, args, first)
    if node.op in {"cat", "stack"}:
        return functools.reduce(Interval.hull, [known[each] for each in node.reads()])
    return _folded(node, args, first, shapes)


def _operand(arg: Arg, known: Known) -> Interval:
    if isinstance(arg, Ref):
        return known[arg.name]
    if isinstance(arg, bool | int | float):
        return Interval(float(arg), float(arg))
    return EVERYTHING


_BINARY: Mapping[str, Callable[[Interval, Interval], Interval]] = {
    "add": intervals.added,
    "sub": lambda left, right: intervals.added(left, intervals.negated(right)),
    "rsub": lambda left, right: EVERYTHING,  # noqa: ARG005 - alpha is the other's here
    "mul": intervals.multiplied,
    "div": intervals.divided,
    "minimum": intervals.least,
    "maximum": intervals.greatest,
}


def _activation(node: Node, args: Mapping[str, Arg], first: Interval) -> Interval:
    if node.op == "to":
        return first
    given = {name: each for name, each in args.items() if name not in {"self", "approximate"}}
    numbers = {name: float(each) for name, each in given.items() if isinstance(each, int | float)}
    if any(each is not None for name, each in given.items() if name not in numbers):
        return EVERYTHING
    return intervals.applied(node.op, first, numbers)


def _folded(node: Node, args: Mapping[str, Arg], first: Interval, shapes: Shapes) -> Interval:
    source = args.get("self")
    if node.op == "sum" and isinstance(source, Ref):
        shape = shapes[source.name]
        count = math.prod(shape[each] for each in reduced_axes(args, len(shape)))
        return intervals.multiplied(first, Interval(count, count))
    if node.op == "pad":
        fill = args.get("value") or 0.0
        return first.hull(_operand(fill, {}))
    if node.op.startswith("avg_pool") and args.get("divisor_override") is None:
        is_padded = any(spread(args.get("padding"), 1, 0))
        return first.hull(Interval(0.0, 0.0)) if is_padded else first
    has_values = node.op in _KEEPS and node.index in {None, 0}
    is_view = FAMILIES.get(node.op) is Family.LAYOUT
    is_pool = node.op.startswith(("max_pool", "adaptive_avg_pool"))
    return first if has_values or is_view or is_pool else EVERYTHING
