"""Operators that change nothing, by the interval in which their operand lies.

Intervals say nothing of NaN: an operator that hands NaN on is dropped, one whose result would be a
number whatever happens is replaced by it only where finite inputs cannot give NaN.
"""

import math
from collections.abc import Iterator

from xeforge.fusion.algebra import read
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.intervals import Interval
from xeforge.fusion.algebra.intervals import applied
from xeforge.fusion.algebra.read import Step
from xeforge.fusion.algebra.rule import Condition
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.shapes import reduced_axes
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

_LIMITERS = frozenset(
    {"relu", "relu6", "hardtanh", "clamp", "clamp_min", "clamp_max", "minimum", "maximum"}
)
_IDENTITY_ABOVE_ZERO = frozenset({"relu", "abs", "leaky_relu", "elu", "celu"})
_SOFT = frozenset({"softmax", "log_softmax", "logsumexp"})
_BOUND = 60.0
"""Sums of exp(60) are far below the largest float32, exp(-60) is no subnormal."""
_MOST_ELEMENTS = 2**24


def _limits(scene: Scene, node: Node) -> Iterator[Found]:
    """Clamps, minima and maxima with numbers, and activations that are x above zero."""
    args = bound(node)
    first, second = args.get("self"), args.get("other")
    if node.op in {"minimum", "maximum"}:
        for value, limit in ((first, second), (second, first)):
            number = scene.number(limit)
            if isinstance(value, Ref) and number is not None and scene.shape(value) == node.shape:
                name = "max" if node.op == "minimum" else "min"
                yield Found(node, _inner(scene, value), {"value": value, "numbers": {name: number}})
    elif node.op in _LIMITERS | _IDENTITY_ABOVE_ZERO and isinstance(first, Ref):
        given = {name: each for name, each in args.items() if name != "self" and each is not None}
        numbers = {name: each for name, each in given.items() if isinstance(each, int | float)}
        if len(numbers) == len(given):
            yield Found(node, _inner(scene, first), {"value": first, "numbers": numbers})


def _inner(scene: Scene, value: Ref) -> tuple[Node, ...]:
    node = scene.node(value)
    return () if node is None else (node,)


def _identity_on(found: Found) -> Interval:
    """Return where an operator gives back what it is given."""
    numbers, op = found["numbers"], found.root.op
    if op == "relu6":
        return Interval(0.0, 6.0)
    if op == "hardtanh":
        return Interval(numbers.get("min_val", -1.0), numbers.get("max_val", 1.0))
    if op in _IDENTITY_ABOVE_ZERO:
        has_scale = set(numbers) & {"scale", "input_scale"}
        return Interval(math.inf, -math.inf) if has_scale else Interval(0.0)
    return Interval(numbers.get("min", -math.inf), numbers.get("max", math.inf))


def _lies_where_identity(scene: Scene, found: Found) -> str | None:
    interval, wanted = scene.of(found["value"]).interval, _identity_on(found)
    return f"{found['value'].name} in {interval}" if interval.within(wanted) else None


def _keeps_dtype(scene: Scene, found: Found) -> str | None:
    dtype = scene.dtype(found["value"])
    return f"{dtype} before and after" if dtype == found.root.dtype else None


def _limited(scene: Scene, node: Node) -> Iterator[Found]:
    """Clamps, minima and maxima with numbers."""
    for found in _limits(scene, node):
        if node.op in _LIMITERS:
            yield found


def _one_result(scene: Scene, found: Found) -> float | None:
    op = "clamp" if found.root.op in {"minimum", "maximum"} else found.root.op
    result = applied(op, scene.of(found["value"]).interval, found["numbers"])
    return result.low if result.low == result.high else None


def _lies_outside(scene: Scene, found: Found) -> str | None:
    result = _one_result(scene, found)
    return None if result is None else f"{scene.of(found['value']).interval} becomes {result:g}"


def _is_finite(scene: Scene, found: Found) -> str | None:
    name = found["value"].name
    return f"{name} is finite for finite inputs" if scene.of(found["value"]).is_finite else None


def _soft(scene: Scene, node: Node) -> Iterator[Found]:
    """A softmax or log-sum-exp that looks for its maximum."""
    source = scene.source(node)
    if node.op in _SOFT and source is not None and not bound(node).get("is_bounded"):
        yield Found(node, _inner(scene, source), {"value": source})


def _exponentials_fit(scene: Scene, found: Found) -> str | None:
    interval = scene.of(found["value"]).interval
    fits = interval.within(Interval(-_BOUND, _BOUND))
    return f"{found['value'].name} in {interval}" if fits else None


def _sum_fits(scene: Scene, found: Found) -> str | None:
    shape = scene.shape(found["value"])
    count = math.prod(shape[each] for each in reduced_axes(bound(found.root), len(shape)))
    return f"{count} elements" if count <= _MOST_ELEMENTS else None


def _steps(scene: Scene, node: Node) -> Iterator[Found]:
    """An addition or multiplication."""
    for step in read.steps_of(scene, node):
        yield Found(node, (), {"step": step, "value": step.main})


def _is_neutral(scene: Scene, found: Found) -> str | None:
    step: Step = found["step"]
    neutral = 0.0 if step.kind == "shift" else 1.0
    return f"the number {neutral:g}" if scene.number(step.other) == neutral else None


def _two_slopes(scene: Scene, node: Node) -> Iterator[Found]:
    """A leaky activation of another."""
    source = scene.source(node)
    inner = scene.node(source)
    if node.op == "leaky_relu" and inner is not None and inner.op == "leaky_relu":
        value = scene.source(inner)
        yield Found(node, (inner,), {"value": value, "slopes": (_slope(inner), _slope(node))})


def _slope(node: Node) -> float:
    slope = bound(node).get("negative_slope", 0.01)
    return float(slope) if isinstance(slope, int | float) else math.nan


def _slopes_keep_sign(_: Scene, found: Found) -> str | None:
    first, second = found["slopes"]
    return f"slopes {first:g} and {second:g}" if first >= 0 and second >= 0 else None


def _operand(_: Builder, found: Found) -> Ref:
    """``f(x) = x``."""
    value: Ref = found["value"]
    return value


def _number(builder: Builder, found: Found) -> Ref:
    """``clamp(x) = c`` where all of x lies on one side."""
    result = _one_result(builder.scene, found)
    numbers = [each for each in found["numbers"].values() if isinstance(each, int | float)]
    return builder.op("full", found.root.shape, numbers[-1] if result is None else result)


def _bounded(builder: Builder, found: Found) -> Ref:
    """``softmax(x) = exp(x) / sum(exp(x))``, without a maximum taken out first."""
    changed: dict[str, Arg] = {"is_bounded": True}
    return builder.again(found.root, None, **changed)


def _one_slope(builder: Builder, found: Found) -> Ref:
    """``leaky(leaky(x, a), b) = leaky(x, a * b)``."""
    first, second = found["slopes"]
    return builder.op("leaky_relu", found["value"], first * second)


RULES = (
    Rule(
        name="idle_on_interval",
        group="dead",
        identity="clamp(x, a, b) = x for a <= x <= b; relu, abs, leaky_relu, elu(x) = x for "
        "x >= 0; NaN stays NaN",
        pattern=_limits,
        guard=(
            Condition("the operand lies where nothing changes", _lies_where_identity),
            Condition("the dtype stays", _keeps_dtype),
        ),
        replacement=_operand,
    ),
    Rule(
        name="constant_on_interval",
        group="dead",
        identity="clamp(x, a, b) = a for x <= a; where x is NaN, by an infinite input or an "
        "overflow, the left side is NaN",
        pattern=_limited,
        guard=(
            Condition("the operand lies on one side of all limits", _lies_outside),
            Condition("finite inputs give no NaN", _is_finite),
        ),
        replacement=_number,
    ),
    Rule(
        name="bounded_softmax",
        group="dead",
        identity="softmax(x) = exp(x) / sum(exp(x)) without taking the maximum out, and so for "
        "logsumexp and log_softmax; NaN stays NaN",
        pattern=_soft,
        guard=(
            Condition("exponentials neither overflow nor vanish", _exponentials_fit),
            Condition("nor does their sum", _sum_fits),
        ),
        replacement=_bounded,
    ),
    Rule(
        name="neutral_number",
        group="dead",
        identity="x * 1 = x / 1 = x + 0 = x - 0 = x; a zero may keep another sign",
        pattern=_steps,
        guard=(Condition("the number changes nothing", _is_neutral),),
        replacement=_operand,
    ),
    Rule(
        name="two_slopes",
        group="dead",
        identity="leaky_relu(leaky_relu(x, a), b) = leaky_relu(x, a * b); an infinity times a "
        "slope of zero is NaN on both sides",
        pattern=_two_slopes,
        guard=(Condition("no slope is negative", _slopes_keep_sign),),
        replacement=_one_slope,
    ),
)
