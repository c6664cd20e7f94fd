"""Composite scalar functions in terms of primitive ones, for emitters and for derivatives."""

import math
from collections.abc import Callable
from collections.abc import Mapping

from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import call
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select


def expand(value: Expr) -> Expr:
    """Return an equal expression that applies primitive functions only."""
    if isinstance(value, Call):
        args = tuple(expand(part) for part in value.args)
        if FUNCTIONS[value.function].is_primitive:
            return Call(value.function, args, value.dtype)
        return _DEFINITIONS[value.function](*args)
    if isinstance(value, Select):
        return Select(value.guard, expand(value.then), expand(value.otherwise))
    return value


def _like(value: Expr, number: float) -> Const:
    return Const(number, dtype_of(value))


def _relu(x: Expr) -> Expr:
    return call("maximum", x, _like(x, 0.0))


def _sigmoid(x: Expr) -> Expr:
    one = _like(x, 1.0)
    return call("div", one, call("add", one, call("exp", call("neg", x))))


def _silu(x: Expr) -> Expr:
    return call("div", x, call("add", _like(x, 1.0), call("exp", call("neg", x))))


def _gelu(x: Expr) -> Expr:
    inner = call("erf", call("mul", x, _like(x, math.sqrt(0.5))))
    half = call("mul", x, _like(x, 0.5))
    return call("mul", half, call("add", _like(x, 1.0), inner))


def _gelu_tanh(x: Expr) -> Expr:
    cubed = call("mul", call("mul", x, x), x)
    inner = call("add", x, call("mul", _like(x, 0.044715), cubed))
    bent = call("tanh", call("mul", _like(x, math.sqrt(2 / math.pi)), inner))
    half = call("mul", x, _like(x, 0.5))
    return call("mul", half, call("add", _like(x, 1.0), bent))


def _mish(x: Expr) -> Expr:
    return call("mul", x, call("tanh", call("log1p", call("exp", x))))


def _softplus(x: Expr, beta: Expr, threshold: Expr) -> Expr:
    scaled = call("mul", x, beta)
    bent = call("div", call("log1p", call("exp", scaled)), beta)
    return call("where", call("gt", scaled, threshold), x, bent)


def _leaky_relu(x: Expr, slope: Expr) -> Expr:
    return call("where", call("gt", x, _like(x, 0.0)), x, call("mul", x, slope))


def _elu(x: Expr, alpha: Expr, scale: Expr, input_scale: Expr) -> Expr:
    below = call("expm1", call("mul", x, input_scale))
    bent = call("mul", call("mul", below, alpha), scale)
    return call("where", call("gt", x, _like(x, 0.0)), call("mul", x, scale), bent)


def _ramp(x: Expr) -> Expr:
    shifted = call("maximum", call("add", x, _like(x, 3.0)), _like(x, 0.0))
    return call("div", call("minimum", shifted, _like(x, 6.0)), _like(x, 6.0))


def _hardswish(x: Expr) -> Expr:
    return call("mul", x, _ramp(x))


_DEFINITIONS: Mapping[str, Callable[..., Expr]] = {
    "relu": _relu,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "mish": _mish,
    "softplus": _softplus,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "hardswish": _hardswish,
    "hardsigmoid": _ramp,
}
