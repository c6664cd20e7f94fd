"""The closed table of scalar functions that statements may apply, with their dtype rules.

Composite functions have a name of their own, so that a program stays readable and an argument is
not written twice; `xeforge.fusion.expand` says what each means in primitive ones.
"""

from dataclasses import dataclass
from typing import Literal

from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select

Rule = Literal["float", "same", "compare", "logic", "choose", "cast"]


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function.

    Attributes:
        name: As in `Call.function`.
        arity: Number of arguments.
        rule: ``float``: all arguments have one float dtype, and so has the result. ``same``: one
            numeric dtype. ``compare``: one dtype, the result is bool. ``logic``: all bool.
            ``choose``: bool, then two of one dtype. ``cast``: any to the dtype of the call.
        is_primitive: False for those that `xeforge.fusion.expand` defines by others.
        flops: Arithmetic operations that the cost model counts for one call.
    """

    name: str
    arity: int
    rule: Rule
    is_primitive: bool = True
    flops: int = 1


_ALL = (
    *(Function(name, 1, "same") for name in ("neg", "abs")),
    *(Function(name, 1, "float") for name in ("exp", "log", "sqrt", "rsqrt", "erf", "tanh")),
    *(Function(name, 1, "float") for name in ("log1p", "expm1", "sin", "cos", "tan", "exp2")),
    *(Function(name, 1, "float") for name in ("floor", "ceil", "round", "trunc", "sign")),
    *(Function(name, 2, "same") for name in ("add", "sub", "mul", "minimum", "maximum")),
    *(Function(name, 2, "float") for name in ("div", "pow")),
    *(Function(name, 2, "compare") for name in ("lt", "le", "gt", "ge", "eq", "ne")),
    *(Function(name, 2, "logic") for name in ("and", "or")),
    Function("not", 1, "logic"),
    Function("where", 3, "choose"),
    Function("cast", 1, "cast", flops=0),
    *(
        Function(name, arity, "float", is_primitive=False, flops=flops)
        for name, arity, flops in (
            ("relu", 1, 1),
            ("sigmoid", 1, 3),
            ("silu", 1, 4),
            ("gelu", 1, 5),
            ("gelu_tanh", 1, 8),
            ("mish", 1, 6),
            ("softplus", 3, 5),
            ("leaky_relu", 2, 2),
            ("elu", 4, 5),
            ("hardswish", 1, 5),
            ("hardsigmoid", 1, 4),
        )
    ),
)
FUNCTIONS = {each.name: each for each in _ALL}


def call(function: str, *args: Expr) -> Call:
    """Apply a function; the dtype of the result follows from the rule.

    Raises:
        ValueError: The function is unknown, takes other arguments, or is a cast.
    """
    found = FUNCTIONS.get(function)
    if found is None or found.arity != len(args) or found.rule == "cast":
        raise ValueError(f"{function} does not take {len(args)} arguments")
    dtype = "bool" if found.rule in {"compare", "logic"} else dtype_of(args[-1])
    return Call(function, args, dtype)


def cast(value: Expr, dtype: str) -> Expr:
    """Convert to a dtype; nothing is added where the value has it."""
    if dtype_of(value) == dtype:
        return value
    if isinstance(value, Const):
        return Const(value.value, dtype)
    return Call("cast", (value,), dtype)


def dtype_of(value: Expr) -> str:
    """Return the Torch name of the dtype that an expression has."""
    return dtype_of(value.then) if isinstance(value, Select) else value.dtype


def children(value: Expr) -> tuple[Expr, ...]:
    """Return the direct parts of an expression."""
    if isinstance(value, Call):
        return value.args
    if isinstance(value, Select):
        return (value.then, value.otherwise)
    return ()
