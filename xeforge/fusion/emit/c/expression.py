"""Scalar expressions as C."""

from collections.abc import Callable
from collections.abc import Mapping

from xeforge.fusion.emit.c.index import Extents
from xeforge.fusion.emit.c.index import affine_text
from xeforge.fusion.emit.c.index import conditions_text
from xeforge.fusion.emit.c.numbers import converted
from xeforge.fusion.emit.c.numbers import literal
from xeforge.fusion.emit.c.numbers import loaded
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.numbers import rounded
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Monoid
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Read

Reading = Callable[[Read], str]
"""Gives the value of an element as C; guards are not its affair."""

_INFIX: Mapping[str, str] = {
    name: f" {sign} "
    for name, sign in (
        *(("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("and", "&"), ("or", "|")),
        *(("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")),
    )
}
_FOLDS: Mapping[Monoid, str] = {"sum": "{0} + {1}", "prod": "{0} * {1}"}


def expression(value: Expr, extents: Extents, read: Reading) -> str:
    """Write the value of an expression; a part that is not chosen is not evaluated."""
    if isinstance(value, Const):
        return literal(value.value, value.dtype)
    if isinstance(value, Position):
        return f"({number(value.dtype).value})({affine_text(value.of, extents)})"
    if isinstance(value, Read):
        return _guarded(value, extents, read)
    if isinstance(value, Call):
        return _call(value, [expression(each, extents, read) for each in value.args])
    condition = conditions_text(value.guard, extents)
    then = expression(value.then, extents, read)
    if not condition:
        return then
    return f"({condition} ? {then} : {expression(value.otherwise, extents, read)})"


def folded(monoid: Monoid, dtype: str, state: str, term: str) -> str:
    """Write one step of a fold."""
    if monoid in _FOLDS:
        return rounded(dtype, _FOLDS[monoid].format(state, term))
    return f"xf_{monoid}_{number(dtype).suffix}({state}, {term})"


def element(read: Read, pointer: str, extents: Extents) -> str:
    """Write the value of an element of a flat array in memory."""
    return loaded(read.dtype, f"{pointer}[{affine_text(read.access.index[0], extents)}]")


def _guarded(value: Read, extents: Extents, read: Reading) -> str:
    condition = conditions_text(value.access.guard, extents)
    text = read(value)
    if not condition:
        return text
    return f"({condition} ? {text} : {literal(value.access.otherwise, value.dtype)})"


def _call(value: Call, args: list[str]) -> str:
    if value.function == "cast":
        return converted(args[0], dtype_of(value.args[0]), value.dtype)
    return rounded(value.dtype, _applied(value, args))


def _applied(value: Call, args: list[str]) -> str:
    if value.function in _INFIX:
        return f"({args[0]}{_INFIX[value.function]}{args[1]})"
    if value.function == "neg":
        return f"(-{args[0]})"
    if value.function == "not":
        return f"(!{args[0]})"
    if value.function == "where":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    name = {"minimum": "min", "maximum": "max"}.get(value.function, value.function)
    suffix = number(dtype_of(value.args[0])).suffix
    return f"xf_{name}_{suffix}({', '.join(args)})"
