"""Element by element: one statement per operator, with broadcasting."""

import math
from collections.abc import Callable
from collections.abc import Mapping

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.functions import call
from xeforge.fusion.functions import cast
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value
from xeforge.fusion.lower.value import compute_dtype

_Build = Callable[[Arguments, Callable[[str], Expr]], Expr]
"""Makes the body from the arguments, and from the operand of each name."""


def _unary(function: str) -> tuple[tuple[str, ...], _Build]:
    return ("self",), lambda _, operand: call(function, operand("self"))


def _binary(function: str) -> tuple[tuple[str, ...], _Build]:
    return ("self", "other"), lambda _, operand: call(function, operand("self"), operand("other"))


def _like(value: Expr, number: float) -> Const:
    return Const(number, dtype_of(value))


def _scaled_add(function: str) -> _Build:
    def build(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
        left, right = operand("self"), operand("other")
        alpha = args.number("alpha", 1)
        return call(function, left, right if alpha == 1 else call("mul", right, _like(left, alpha)))

    return build


def _rsub(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    left, right = operand("other"), operand("self")
    alpha = args.number("alpha", 1)
    return call("sub", left, right if alpha == 1 else call("mul", right, _like(left, alpha)))


def _div(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    if args.get("rounding_mode") is not None:
        raise refuse(args.node, "with a rounding mode is not covered")
    return call("div", operand("self"), operand("other"))


def _pow(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    base = operand("self")
    match args.get("exponent"):
        case 2:
            return call("mul", base, base)
        case 1:
            return base
        case 0.5:
            return call("sqrt", base)
        case -0.5:
            return call("rsqrt", base)
        case -1:
            return call("div", _like(base, 1.0), base)
        case _:
            return call("pow", base, operand("exponent"))


def _clamped(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    if args.get("min") is not None:
        value = call("maximum", value, operand("min"))
    if args.get("max") is not None:
        value = call("minimum", value, operand("max"))
    return value


def _hardtanh(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    low = _like(value, args.number("min_val", -1.0))
    high = _like(value, args.number("max_val", 1.0))
    return call("minimum", call("maximum", value, low), high)


def _relu6(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    return call("minimum", call("maximum", value, _like(value, 0.0)), _like(value, 6.0))


def _gelu(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    approximate = args.get("approximate", "none")
    return call("gelu_tanh" if approximate == "tanh" else "gelu", operand("self"))


def _softplus(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    beta = _like(value, args.number("beta", 1))
    return call("softplus", value, beta, _like(value, args.number("threshold", 20)))


def _leaky_relu(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    return call("leaky_relu", value, _like(value, args.number("negative_slope", 0.01)))


def _elu(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    numbers = (args.number(name, 1) for name in ("alpha", "scale", "input_scale"))
    return call("elu", value, *(_like(value, each) for each in numbers))


def _selu(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return call("elu", value, _like(value, alpha), _like(value, scale), _like(value, 1.0))


def _reciprocal(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    return call("div", _like(value, 1.0), value)


def _square(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    return call("mul", value, value)


def _ternary(function: str) -> _Build:
    def build(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
        base = operand("self")
        term = call(function, operand("tensor1"), operand("tensor2"))
        return call("add", base, call("mul", term, _like(base, args.number("value", 1))))

    return build


def _lerp(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
    start = operand("self")
    return call("add", start, call("mul", operand("weight"), call("sub", operand("end"), start)))


def _log_sigmoid(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    tail = call("log1p", call("exp", call("neg", call("abs", value))))
    return call("sub", call("minimum", value, _like(value, 0.0)), tail)


def _threshold(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    is_low = call("le", value, _like(value, args.number("threshold", 0)))
    return call("where", is_low, _like(value, args.number("value", 0)), value)


def _celu(args: Arguments, operand: Callable[[str], Expr]) -> Expr:
    value = operand("self")
    alpha = args.number("alpha", 1)
    return call("elu", value, *(_like(value, each) for each in (alpha, 1.0, 1 / alpha)))


def _log_in(base: float) -> _Build:
    def build(_: Arguments, operand: Callable[[str], Expr]) -> Expr:
        value = call("log", operand("self"))
        return call("mul", value, _like(value, 1 / math.log(base)))

    return build


_OPERATORS: Mapping[str, tuple[tuple[str, ...], _Build]] = {
    **{
        name: _unary(name)
        for name in (
            *("abs", "neg", "exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "erf", "tanh"),
            *("sin", "cos", "tan", "exp2", "floor", "ceil", "trunc", "sign", "relu", "sigmoid"),
            *("silu", "mish", "hardswish", "hardsigmoid"),
        )
    },
    **{name: _binary(name) for name in ("mul", "minimum", "maximum")},
    **{name: _binary(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "logical_and": _binary("and"),
    "logical_or": _binary("or"),
    "logical_not": _unary("not"),
    "add": (("self", "other", "alpha"), _scaled_add("add")),
    "sub": (("self", "other", "alpha"), _scaled_add("sub")),
    "rsub": (("self", "other", "alpha"), _rsub),
    "div": (("self", "other", "rounding_mode"), _div),
    "pow": (("self", "exponent"), _pow),
    "clamp": (("self", "min", "max"), _clamped),
    "clamp_min": (("self", "min"), _clamped),
    "clamp_max": (("self", "max"), _clamped),
    "hardtanh": (("self", "min_val", "max_val"), _hardtanh),
    "relu6": (("self",), _relu6),
    "gelu": (("self", "approximate"), _gelu),
    "softplus": (("self", "beta", "threshold"), _softplus),
    "leaky_relu": (("self", "negative_slope"), _leaky_relu),
    "elu": (("self", "alpha", "scale", "input_scale"), _elu),
    "selu": (("self",), _selu),
    "reciprocal": (("self",), _reciprocal),
    "square": (("self",), _square),
    "addcmul": (("self", "tensor1", "tensor2", "value"), _ternary("mul")),
    "addcdiv": (("self", "tensor1", "tensor2", "value"), _ternary("div")),
    "lerp": (("self", "end", "weight"), _lerp),
    "log_sigmoid": (("self",), _log_sigmoid),
    "threshold": (("self", "threshold", "value"), _threshold),
    "celu": (("self", "alpha"), _celu),
    "log2": (("self",), _log_in(2.0)),
    "log10": (("self",), _log_in(10.0)),
}
_LOGIC = frozenset({"logical_and", "logical_or", "logical_not"})


def lower_pointwise(draft: Draft, node: Node) -> Value:
    """Write one statement for an operator of the table above."""
    names, build = _OPERATORS[node.op]
    args = Arguments(node, *names)
    dtype = _operand_dtype(draft, node)

    def body(at: At) -> Expr:
        return build(args, lambda name: _operand(draft, args, name, at, dtype))

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def lower_where(draft: Draft, node: Node) -> Value:
    """Choose between two operands by a boolean one."""
    args = Arguments(node, "condition", "self", "other")
    condition = draft.value(args.ref("condition"))
    if condition.dtype != "bool":
        raise refuse(node, "the condition is not boolean")

    def body(at: At) -> Expr:
        then = _operand(draft, args, "self", at, node.dtype)
        other = _operand(draft, args, "other", at, node.dtype)
        return call("where", condition.broadcast(at), then, other)

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def lower_masked_fill(draft: Draft, node: Node) -> Value:
    """Replace elements by a number where a mask holds."""
    args = Arguments(node, "self", "mask", "value")
    mask = draft.value(args.ref("mask"))

    def body(at: At) -> Expr:
        filled = _operand(draft, args, "value", at, node.dtype)
        kept = _operand(draft, args, "self", at, node.dtype)
        return call("where", mask.broadcast(at), filled, kept)

    return draft.pointwise(node.name, node.shape, node.dtype, body)


def lower_to(draft: Draft, node: Node) -> Value:
    """Convert to the dtype of the result."""
    source = node.args[0]
    if not isinstance(source, Ref):
        raise refuse(node, "what is converted is no tensor")
    value = draft.value(source)
    if value.dtype == node.dtype:
        return value
    if DTYPES[node.dtype].kind != "float":
        raise refuse(node, f"conversion to {node.dtype} is not covered")
    return draft.pointwise(node.name, node.shape, node.dtype, value.at)


def _operand(draft: Draft, args: Arguments, name: str, at: At, dtype: str) -> Expr:
    found: Arg = args.get(name)
    if isinstance(found, Ref):
        return cast(draft.value(found).broadcast(at), dtype)
    if isinstance(found, bool | int | float):
        return Const(found, dtype)
    raise refuse(args.node, f"{name} is neither tensor nor number")


def _operand_dtype(draft: Draft, node: Node) -> str:
    """Return the dtype that the operator computes in."""
    if node.op in _LOGIC:
        return "bool"
    if node.dtype != "bool":
        return compute_dtype(node.dtype)
    dtypes = [draft.value(each).dtype for each in node.args if isinstance(each, Ref)]
    wide = max(dtypes, key=lambda each: (DTYPES[each].kind == "float", DTYPES[each].size_bytes))
    return compute_dtype(wide)


LOWERINGS = {
    **dict.fromkeys(_OPERATORS, lower_pointwise),
    "where": lower_where,
    "masked_fill": lower_masked_fill,
    "to": lower_to,
}
