"""What each scalar function means, in numpy; written apart from `xeforge.fusion.expand`."""

import math
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]


def apply(function: str, args: list[Values]) -> Values:
    """Apply a function of `xeforge.fusion.functions.FUNCTIONS` element by element.

    NaN wins in ``minimum`` and ``maximum``; overflow gives infinities, silently.
    """
    with np.errstate(all="ignore"):
        return np.asarray(_MEANINGS[function](*args))


def _erf(x: Values) -> Values:
    # numpy has no error function; the one of the standard library is good to an ulp or so.
    flat = [math.erf(float(each)) for each in np.ravel(x)]
    return np.array(flat, dtype=np.float64).reshape(np.shape(x)).astype(x.dtype)


def _sigmoid(x: Values) -> Values:
    return np.asarray(1 / (1 + np.exp(-x)))


def _softplus(x: Values, beta: Values, threshold: Values) -> Values:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def _gelu(x: Values) -> Values:
    return np.asarray(x * (1 + _erf(np.asarray(x / x.dtype.type(math.sqrt(2))))) / 2)


def _gelu_tanh(x: Values) -> Values:
    factor = x.dtype.type(math.sqrt(2 / math.pi))
    slope = x.dtype.type(0.044715)
    return np.asarray(x * (1 + np.tanh(factor * (x + slope * x * x * x))) / 2)


def _elu(x: Values, alpha: Values, scale: Values, input_scale: Values) -> Values:
    return np.where(x > 0, x * scale, np.expm1(x * input_scale) * alpha * scale)


def _hardsigmoid(x: Values) -> Values:
    return np.asarray(np.minimum(np.maximum(x + 3, 0), 6) / 6)


_MEANINGS: Mapping[str, Callable[..., Any]] = {
    "neg": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": _erf,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp2": np.exp2,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "sign": np.sign,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": _sigmoid,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "softplus": _softplus,
    "leaky_relu": lambda x, slope: np.where(x > 0, x, x * slope),
    "elu": _elu,
    "hardswish": lambda x: x * _hardsigmoid(x),
    "hardsigmoid": _hardsigmoid,
}
