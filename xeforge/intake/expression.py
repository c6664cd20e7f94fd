"""Safe arithmetic for the flop and byte formulas of specs: a syntax tree, never ``eval``."""

import ast
import itertools
import math
import operator
import warnings
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from xeforge.domain.problem import Argument
from xeforge.errors import BadSpec

LENGTH_LIMIT_CHARACTERS: Final = 2_000
"""Longer formulas are refused."""
EXPONENT_LIMIT: Final = 64
"""Largest exponent; the formulas of known specs stay below 4."""
BITS_LIMIT: Final = 1_024
"""Most bits of an integer on the way; what is larger than any float cannot be a count."""

Number = int | float

_BINARY: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_REMEDY: Final = "use numbers, dimension names, parentheses and + - * / // % ** only"


class _Refused(Exception):
    """Why a formula cannot be evaluated; turned into `BadSpec` with the place."""


def evaluate(
    text: str | Number,
    names: Mapping[str, Argument],
    *,
    field: str,
    file: str | None = None,
    line: int | None = None,
) -> Number:
    """Return the value of a formula over named dimensions; a plain number is its own value.

    List-valued dimensions may be indexed (``SIZES[0]``) and given to
    ``adjacent_prod_sum(...)``, which sums the products of neighbours in the flattened sequence.

    Args:
        text: The formula.
        names: Values of the dimensions.
        field: Dotted path of the formula in the spec, for messages.
        file: The spec, for messages.
        line: One-based line of the formula, for messages.

    Raises:
        BadSpec: Not such a formula, an unknown name, or a result that is no finite number.
    """
    if isinstance(text, bool):
        raise _bad("a truth value is no formula", field, file, line)
    if isinstance(text, int | float):
        return _finite(text, field, file, line)
    if len(text) > LENGTH_LIMIT_CHARACTERS:
        reason = f"the formula has {len(text):,} characters, more than {LENGTH_LIMIT_CHARACTERS:,}"
        raise _bad(reason, field, file, line)
    try:
        value = _number(_parsed(text), names)
    except SyntaxError as error:
        raise _bad(f"{text!r} is no formula: {error.msg}", field, file, line) from error
    except _Refused as error:
        raise _bad(f"{text!r}: {error}", field, file, line) from error
    except (RecursionError, MemoryError) as error:
        raise _bad("the formula is nested too deeply", field, file, line) from error
    except ZeroDivisionError as error:
        raise _bad(f"{text!r} divides by zero", field, file, line) from error
    except (OverflowError, ValueError) as error:
        raise _bad(f"{text!r} has no finite value", field, file, line) from error
    return _finite(value, field, file, line)


def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings():
        # Python would print its doubts about literals such as ``1if``.
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def _bad(reason: str, field: str, file: str | None, line: int | None) -> BadSpec:
    return BadSpec(reason, file=file, line=line, field=field, remedy=_REMEDY)


def _finite(value: Number, field: str, file: str | None, line: int | None) -> Number:
    if not math.isfinite(value):
        raise _bad(f"the value {value} is not finite", field, file, line)
    return value


def _number(node: ast.expr, names: Mapping[str, Argument]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _apply(op, _number(left, names), _number(right, names))
        case ast.Call(func=ast.Name(id="adjacent_prod_sum"), args=args, keywords=[]):
            flat = [each for part in args for each in _flat(_operand(part, names))]
            return _bounded(sum(one * two for one, two in itertools.pairwise(flat)))
        case ast.Name() | ast.Subscript():
            return _scalar(_operand(node, names), ast.unparse(node))
        case _:
            raise _Refused(f"{ast.unparse(node)!r} is not allowed")


def _apply(op: ast.operator, left: Number, right: Number) -> Number:
    if isinstance(op, ast.Pow) and abs(right) > EXPONENT_LIMIT:
        raise _Refused(f"the exponent {right} is larger than {EXPONENT_LIMIT}")
    value = _BINARY[type(op)](left, right)
    if isinstance(value, complex):
        raise _Refused("a fractional power of a negative number")
    return _bounded(value)


def _bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > BITS_LIMIT:
        raise _Refused("a number on the way is too large")
    return value


def _operand(node: ast.expr, names: Mapping[str, Argument]) -> Argument:
    """Return a number, or the list behind a name (or behind an index into one)."""
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise _Refused(_unknown(node.id, names))
        return names[node.id]
    if isinstance(node, ast.Subscript):
        box = _operand(node.value, names)
        index = _number(node.slice, names)
        if not isinstance(box, tuple) or not isinstance(index, int):
            raise _Refused(f"{ast.unparse(node)!r}: only lists can be indexed, by integers")
        if not -len(box) <= index < len(box):
            raise _Refused(f"{ast.unparse(node)!r}: the list has {len(box)} elements")
        return box[index]
    return _number(node, names)


def _flat(value: Argument) -> Iterator[Number]:
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    else:
        yield _scalar(value, repr(value))


def _scalar(value: Argument, name: str) -> Number:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, int | float):
        kind = "a list" if isinstance(value, tuple) else "text"
        raise _Refused(f"{name} is {kind}, not a number")
    return _bounded(value)


def _unknown(name: str, names: Mapping[str, Argument]) -> str:
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    known = ", ".join(sorted(names)) or "none"
    return f"unknown dimension {name!r}{hint} (known: {known})"
