"""What a norm or a softmax takes out again need not be put in.

A batch norm in train mode that keeps running statistics is left alone: the statistics that it
records are those of its operand, shift and scale included.
"""

from collections.abc import Iterator

from xeforge.fusion.algebra import read
from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.algebra.read import Affine
from xeforge.fusion.algebra.read import Norm
from xeforge.fusion.algebra.read import Step
from xeforge.fusion.algebra.rule import Condition
from xeforge.fusion.algebra.rule import Found
from xeforge.fusion.algebra.rule import Rule
from xeforge.fusion.algebra.scene import Scene
from xeforge.fusion.algebra.signature import NAMES
from xeforge.fusion.algebra.signature import bound
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref

_LEAST, _MOST = 1e-30, 1e30
_FACTORS = 1e-4, 1e4
"""Within these, a norm's squares overflow without the factor where they nearly did with it."""


def _norm_of_step(scene: Scene, node: Node, kind: str) -> Iterator[Found]:
    norm = read.norm_of(scene, node)
    inner = scene.node(norm.source) if norm else None
    for step in read.steps_of(scene, inner) if inner else ():
        if step.kind == kind:
            yield Found(node, (step.node,), {"norm": norm, "step": step})


def _norm_of_shift(scene: Scene, node: Node) -> Iterator[Found]:
    """A norm or softmax of a sum."""
    yield from _norm_of_step(scene, node, "shift")


def _norm_of_scale(scene: Scene, node: Node) -> Iterator[Found]:
    """A norm or softmax of a product."""
    yield from _norm_of_step(scene, node, "scale")


def _norm_of_bias(scene: Scene, node: Node) -> Iterator[Found]:
    """A norm or softmax of a linear layer or convolution with a bias."""
    norm = read.norm_of(scene, node)
    affine = read.affine_of(scene, scene.node(norm.source)) if norm else None
    if affine is not None and affine.bias is not None:
        yield Found(node, (affine.node,), {"norm": norm, "affine": affine})


def _takes_out_the_mean(_: Scene, found: Found) -> str | None:
    op = found.root.op
    return None if op == "rms_norm" else f"{op} is blind to shifts"


def _shift_is_constant(scene: Scene, found: Found) -> str | None:
    axes = scene.varies_along(found["step"].other, len(found.root.shape))
    norm: Norm = found["norm"]
    return None if axes & norm.axes else f"constant along {read.axes_text(norm.axes)}"


def _bias_is_constant(_: Scene, found: Found) -> str | None:
    norm, affine = found["norm"], found["affine"]
    if affine.axis in norm.axes:
        return None
    return f"varies along axis {affine.axis}, constant along {read.axes_text(norm.axes)}"


def _keeps_no_statistics(_: Scene, found: Found) -> str | None:
    args = bound(found.root)
    given = [args.get(each) for each in ("running_mean", "running_var")]
    is_kept = any(isinstance(each, Ref) for each in given)
    return None if is_kept else "no running statistics are updated"


def _is_norm(_: Scene, found: Found) -> str | None:
    is_norm = FAMILIES.get(found.root.op) is Family.NORM
    return f"{found.root.op} divides by the deviation" if is_norm else None


def _factor(scene: Scene, step: Step) -> float | None:
    number = scene.number(step.other)
    if number is None or number == 0:
        return None
    return 1 / number if step.is_inverse else number


def _known_factor(scene: Scene, found: Found) -> str | None:
    factor = _factor(scene, found["step"])
    if factor is None:
        return None
    if factor < 0 and not isinstance(bound(found.root).get("weight"), Ref):
        return None
    return f"factor {factor:g}"


def _eps(scene: Scene, found: Found) -> float | None:
    """Return the eps that has the same effect without the factor."""
    eps, factor = bound(found.root).get("eps"), _factor(scene, found["step"])
    if eps is None and found.root.op != "rms_norm":
        eps = 1e-5
    if not isinstance(eps, int | float) or factor is None:
        return None
    return eps / factor**2 if _FACTORS[0] <= abs(factor) <= _FACTORS[1] else None


def _eps_in_range(scene: Scene, found: Found) -> str | None:
    eps = _eps(scene, found)
    return f"eps {eps:g}" if eps is not None and (eps == 0 or _LEAST < eps < _MOST) else None


def _first(node: Node) -> str:
    return NAMES[node.op][0]


def _of_main(builder: Builder, found: Found) -> Ref:
    """``norm(x + c) = norm(x)``."""
    changed: dict[str, Arg] = {_first(found.root): found["step"].main}
    return builder.again(found.root, None, **changed)


def _without_bias(builder: Builder, found: Found) -> Ref:
    """``norm(x @ w.T + b) = norm(x @ w.T)``."""
    affine: Affine = found["affine"]
    inner = affine.again(builder, dtype=affine.node.dtype)
    changed: dict[str, Arg] = {_first(found.root): inner}
    return builder.again(found.root, None, **changed)


def _with_eps(builder: Builder, found: Found) -> Ref:
    """``norm(c * x; w, eps) = norm(x; sign(c) * w, eps / c^2)``."""
    step, scene = found["step"], builder.scene
    changed: dict[str, Arg] = {_first(found.root): step.main, "eps": _eps(scene, found)}
    weight = bound(found.root).get("weight")
    if (_factor(scene, step) or 1.0) < 0 and isinstance(weight, Ref):
        changed["weight"] = builder.op("neg", weight, dtype=builder.dtype(weight))
    return builder.again(found.root, None, **changed)


_BLIND = Condition("the operator subtracts a mean or a maximum", _takes_out_the_mean)
_UNRECORDED = Condition("nobody records the statistics", _keeps_no_statistics)

RULES = (
    Rule(
        name="shift_under_norm",
        group="cancellation",
        identity="norm(x + c) = norm(x), softmax(x + c) = softmax(x); where c is infinite or NaN "
        "the left side is NaN",
        pattern=_norm_of_shift,
        guard=(
            _BLIND,
            Condition("what is added is constant along the normalised axes", _shift_is_constant),
            _UNRECORDED,
        ),
        replacement=_of_main,
    ),
    Rule(
        name="bias_under_norm",
        group="cancellation",
        identity="norm(x @ w.T + b) = norm(x @ w.T), and so for softmax and convolutions; where b "
        "is infinite or NaN the left side is NaN",
        pattern=_norm_of_bias,
        guard=(
            _BLIND,
            Condition("the bias is constant along the normalised axes", _bias_is_constant),
            _UNRECORDED,
        ),
        replacement=_without_bias,
    ),
    Rule(
        name="scale_under_norm",
        group="cancellation",
        identity="norm(c * x; w, eps) = norm(x; sign(c) * w, eps / c^2) for a number c; an "
        "overflow of c * x is gone",
        pattern=_norm_of_scale,
        guard=(
            Condition("the operator divides by a deviation", _is_norm),
            Condition("the factor is a number of known sign, not zero", _known_factor),
            Condition("factor and eps are ordinary numbers", _eps_in_range),
            _UNRECORDED,
        ),
        replacement=_with_eps,
    ),
)
