"""What is added or multiplied goes into the parameters of the operator before it.

Folded parameters are computed by nodes of the graph, at every call. Vectors are float32 for halves;
weights keep their dtype, as operands for matrix units, and float16 ones, which might overflow, are
left alone. The others stay finite as long as parameters are far from the largest number of their
dtype.
"""

import math
from collections.abc import Iterator

from xeforge.fusion.algebra import read
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.read import Affine
from xeforge.fusion.algebra.read import Step
from xeforge.fusion.algebra.rule import Condition
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

_LEAST, _MOST = 1e-30, 1e30


def _shifted_affine(scene: Scene, node: Node) -> Iterator[Found]:
    """Something added to a linear layer or convolution."""
    yield from _stepped_affine(scene, node, "shift")


def _scaled_affine(scene: Scene, node: Node) -> Iterator[Found]:
    """A linear layer or convolution times something."""
    yield from _stepped_affine(scene, node, "scale")


def _stepped_affine(scene: Scene, node: Node, kind: str) -> Iterator[Found]:
    for step in read.steps_of(scene, node):
        affine = read.affine_of(scene, scene.node(step.main))
        if affine is not None and step.kind == kind:
            yield Found(node, (affine.node,), {"step": step, "affine": affine})


def _normed_affine(scene: Scene, node: Node) -> Iterator[Found]:
    """A batch norm of a linear layer or convolution."""
    affine = read.affine_of(scene, scene.node(scene.source(node)))
    if node.op == "batch_norm" and affine is not None:
        yield Found(node, (affine.node,), {"affine": affine})


def _stepped_norm(scene: Scene, node: Node) -> Iterator[Found]:
    """A norm, then something added or multiplied."""
    for step in read.steps_of(scene, node):
        norm = scene.node(step.main)
        if norm is not None and FAMILIES.get(norm.op) is Family.NORM:
            yield Found(node, (norm,), {"step": step, "norm": norm})


def _two_numbers(scene: Scene, node: Node) -> Iterator[Found]:
    """Two steps of one kind, each with a number."""
    for outer in read.steps_of(scene, node):
        inner_node = scene.node(outer.main)
        for inner in read.steps_of(scene, inner_node) if inner_node else ():
            if inner.kind == outer.kind:
                yield Found(node, (inner.node,), {"outer": outer, "inner": inner})


def _along_features(scene: Scene, found: Found) -> str | None:
    step: Step = found["step"]
    axes = read.spans(scene, step.other, len(found.root.shape))
    axis = found["affine"].axis
    if not axes <= {axis}:
        return None
    return f"constant along all axes but {axis}" if axes else "one number for all"


def _one_group(scene: Scene, found: Found) -> str | None:
    affine: Affine = found["affine"]
    if affine.groups == 1 or affine.weight_axis == 0:
        return "the weight has one axis for all features"
    step = found.parts.get("step")
    is_number = step is not None and not read.spans(scene, step.other, len(found.root.shape))
    return "one number for all" if is_number else None


def _weight_in_range(scene: Scene, found: Found) -> str | None:
    dtype = scene.dtype(found["affine"].weight)
    return None if dtype == "float16" else f"{dtype} has range to spare"


def _is_eval(_: Scene, found: Found) -> str | None:
    args = bound(found.root)
    has_both = all(isinstance(args.get(each), Ref) for each in ("running_mean", "running_var"))
    return "running statistics, eval mode" if has_both and not args.get("training") else None


def _along_weight(scene: Scene, found: Found) -> str | None:
    axes = read.spans(scene, found["step"].other, len(found.root.shape))
    own = read.weight_axes(found["norm"])
    return f"weight and bias lie along {read.axes_text(own)}" if axes <= set(own) else None


def _has_bias(_: Scene, found: Found) -> str | None:
    if found["step"].kind == "scale":
        return "a factor"
    return None if found["norm"].op == "rms_norm" else f"{found['norm'].op} has a bias"


def _both_numbers(scene: Scene, found: Found) -> str | None:
    numbers = _numbers(scene, found)
    return f"{numbers[0]:g} and {numbers[1]:g}" if numbers else None


def _in_range(scene: Scene, found: Found) -> str | None:
    numbers = _numbers(scene, found)
    if not numbers or found["outer"].kind == "shift":
        return "a sum"
    product = abs(numbers[0] * numbers[1])
    return f"product {product:g}" if _LEAST < product < _MOST else None


def _numbers(scene: Scene, found: Found) -> tuple[float, float] | None:
    pair = [_effect(scene, found[each]) for each in ("inner", "outer")]
    return None if None in pair else (pair[0] or 0.0, pair[1] or 0.0)


def _effect(scene: Scene, step: Step) -> float | None:
    """Return the number that a step adds or multiplies by."""
    number = scene.number(step.other)
    if number is None or not step.is_inverse:
        return number
    if step.kind == "shift":
        return -number
    return 1 / number if number else None


def _vector(builder: Builder, value: Arg) -> Arg:
    """Lay an operand out as a vector, which it is but for axes of size 1; a number stays one."""
    if not isinstance(value, Ref):
        return value
    return builder.view(value, (math.prod(builder.shape(value)),))


def _as_bias(builder: Builder, step: Step, value: Arg, features: int) -> Ref:
    """Return what a step adds as a vector."""
    if not isinstance(value, Ref):
        number = float(value) if isinstance(value, int | float) else 0.0
        number = -number if step.is_inverse else number
        return builder.op("full", (features,), number, dtype=builder.wide)
    value = builder.op("neg", value, dtype=builder.wide) if step.is_inverse else value
    if builder.shape(value) == (features,):
        return value
    return builder.op("expand", value, (features,), dtype=builder.dtype(value))


def _into_bias(builder: Builder, found: Found) -> Ref:
    """``(x @ w.T + b) + v = x @ w.T + (b + v)``."""
    step: Step = found["step"]
    affine: Affine = found["affine"]
    vector = _vector(builder, step.other)
    if affine.bias is None:
        bias = _as_bias(builder, step, vector, affine.features)
    else:
        bias = step.again(builder, affine.bias, vector, builder.wide)
    return affine.again(builder, bias=bias)


def _into_weight(builder: Builder, found: Found) -> Ref:
    """``(x @ w.T + b) * s = x @ (s * w).T + b * s``."""
    step: Step = found["step"]
    affine: Affine = found["affine"]
    vector = _vector(builder, step.other)
    return _scaled(builder, affine, step, vector)


def _scaled(builder: Builder, affine: Affine, step: Step, vector: Arg) -> Ref:
    column = _column(builder, affine, vector)
    weight = step.again(builder, affine.weight, column, builder.dtype(affine.weight))
    bias = affine.bias and step.again(builder, affine.bias, vector, builder.wide)
    return affine.again(builder, weight=weight, bias=bias)


def _column(builder: Builder, affine: Affine, vector: Arg) -> Arg:
    """Lay a vector of features out along the weight's axis of features."""
    if not isinstance(vector, Ref):
        return vector
    behind = len(builder.shape(affine.weight)) - affine.weight_axis - 1
    return builder.view(vector, (*builder.shape(vector), *(1,) * behind))


def _norm_into_weight(builder: Builder, found: Found) -> Ref:
    """``bn(x @ w.T + b) = x @ (a * w).T + (b - mean) * a + beta``.

    Here ``a = gamma / sqrt(var + eps)``.
    """
    affine: Affine = found["affine"]
    args, wide = bound(found.root), builder.wide
    eps = args.get("eps", 1e-5)
    safe = builder.op("add", args["running_var"], eps, dtype=wide)
    factor = builder.op("rsqrt", safe, dtype=wide)
    if isinstance(args.get("weight"), Ref):
        factor = builder.op("mul", factor, args["weight"], dtype=wide)
    column, dtype = _column(builder, affine, factor), builder.dtype(affine.weight)
    weight = builder.op("mul", affine.weight, column, dtype=dtype)
    if affine.bias is None:
        off = builder.op("neg", args["running_mean"], dtype=wide)
    else:
        off = builder.op("sub", affine.bias, args["running_mean"], dtype=wide)
    bias = builder.op("mul", off, factor, dtype=wide)
    if isinstance(args.get("bias"), Ref):
        bias = builder.op("add", bias, args["bias"], dtype=wide)
    return affine.again(builder, weight=weight, bias=bias)


def _into_norm(builder: Builder, found: Found) -> Ref:
    """``norm(x; w, b) * s = norm(x; w * s, b * s)``, ``norm(x; w, b) + v = norm(x; w, b + v)``."""
    step, norm = found["step"], found["norm"]
    own, args = read.weight_axes(norm), bound(norm)
    shape = tuple(norm.shape[each] for each in own)
    value = _along(builder, step.other, len(norm.shape), own)
    changed: dict[str, Arg] = {}
    for name in ("weight", "bias") if step.kind == "scale" else ("bias",):
        given = args.get(name)
        if isinstance(given, Ref):
            changed[name] = step.again(builder, given, value, builder.wide)
        elif step.kind == "shift" or name == "weight":
            neutral = builder.op(
                "full", shape, 1.0 if name == "weight" else 0.0, dtype=builder.wide
            )
            changed[name] = step.again(builder, neutral, value, builder.wide)
    return builder.again(norm, None, **changed)


def _along(builder: Builder, value: Arg, rank: int, own: tuple[int, ...]) -> Arg:
    """Lay an operand out along the axes of a norm's weight."""
    if not isinstance(value, Ref):
        return value
    shape = (1,) * (rank - len(builder.shape(value))) + builder.shape(value)
    return builder.view(value, tuple(shape[each] for each in own))


def _merged_numbers(builder: Builder, found: Found) -> Ref:
    """``(x * a) * b = x * (a * b)``, ``(x + a) + b = x + (a + b)``."""
    inner: Step = found["inner"]
    first, second = _numbers(builder.scene, found) or (0.0, 0.0)
    if inner.kind == "shift":
        return builder.op("add", inner.main, first + second)
    return builder.op("mul", inner.main, first * second)


RULES = (
    Rule(
        name="shift_into_bias",
        group="folding",
        identity="(x @ w.T + b) + v = x @ w.T + (b + v), and so for convolutions; where b + v "
        "overflows, the left side could be finite",
        pattern=_shifted_affine,
        guard=(Condition("what is added varies along the features only", _along_features),),
        replacement=_into_bias,
    ),
    Rule(
        name="scale_into_weight",
        group="folding",
        identity="(x @ w.T + b) * s = x @ (s * w).T + b * s, and so for convolutions; infinities "
        "of s meet each product and not their sum",
        pattern=_scaled_affine,
        guard=(
            Condition("what is multiplied varies along the features only", _along_features),
            Condition("each feature has its own part of the weight", _one_group),
            Condition("the folded weight stays in the range of its dtype", _weight_in_range),
        ),
        replacement=_into_weight,
    ),
    Rule(
        name="norm_into_weight",
        group="folding",
        identity="bn(x @ w.T + b) = x @ (a * w).T + (b - mean) * a + beta with "
        "a = gamma / sqrt(var + eps); NaN where var + eps < 0 on both sides",
        pattern=_normed_affine,
        guard=(
            Condition("the batch norm uses running statistics", _is_eval),
            Condition("each feature has its own part of the weight", _one_group),
            Condition("the folded weight stays in the range of its dtype", _weight_in_range),
        ),
        replacement=_norm_into_weight,
    ),
    Rule(
        name="affine_into_norm",
        group="folding",
        identity="norm(x; w, b) * s + v = norm(x; w * s, b * s + v); infinities of s meet w",
        pattern=_stepped_norm,
        guard=(
            Condition("it varies along the axes of the norm's weight only", _along_weight),
            Condition("the norm can add", _has_bias),
        ),
        replacement=_into_norm,
    ),
    Rule(
        name="two_numbers",
        group="folding",
        identity="(x * a) * b = x * (a * b), (x + a) + b = x + (a + b); an overflow in between "
        "is gone",
        pattern=_two_numbers,
        guard=(
            Condition("both are numbers of the graph", _both_numbers),
            Condition("their product is an ordinary number", _in_range),
        ),
        replacement=_merged_numbers,
    ),
)
