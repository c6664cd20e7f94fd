"""Evaluates expressions that are built from literals alone; runs no code of the file."""

import ast
import itertools
import math
import operator
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from xeforge.source.imports import ImportTable

STEP_LIMIT: Final = 200_000
"""Most evaluated nodes; more is refused rather than waited for."""
SIZE_LIMIT: Final = 10_000
"""Most elements of one list, and most bits of one integer."""


class NotLiteral(Exception):
    """The expression depends on something that only running the file would tell."""


def _cdiv(left: int, right: int) -> int:
    return -(-left // right)


def _next_power_of_2(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()


_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, box: item in box,
    ast.NotIn: lambda item, box: item not in box,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs,
    "bool": bool,
    "dict": dict,
    "enumerate": enumerate,
    "float": float,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "range": range,
    "reversed": lambda box: tuple(reversed(box)),
    "set": lambda box=(): tuple(dict.fromkeys(box)),
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
    "zip": zip,
    "itertools.product": itertools.product,
    "math.ceil": math.ceil,
    "math.log2": math.log2,
    "math.sqrt": math.sqrt,
    "triton.cdiv": _cdiv,
    "triton.next_power_of_2": _next_power_of_2,
}
# What evaluating an ill-typed literal expression can raise; it is then no literal.
_FAULTS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)

CallReader = Callable[[ast.Call, "LiteralReader"], Any]


class LiteralReader:
    """Evaluates expressions over known names.

    Args:
        names: Values of names.
        imports: Tells what a called function is.
        read_call: Asked first for every call; returns None when the call is not its affair.
        expressions: Expressions of further names, evaluated when asked for.
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        imports: ImportTable,
        *,
        read_call: CallReader | None = None,
        expressions: Mapping[str, ast.expr] | None = None,
    ) -> None:
        self._names = dict(names)
        self._module_names = dict(names)
        self._expressions = expressions or {}
        self._imports = imports
        self._read_call = read_call
        self._steps = 0

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression; lists come back as tuples.

        Raises:
            NotLiteral: The value cannot be known, or is unreasonably large.
        """
        try:
            return self._value(node)
        except _FAULTS as error:
            raise NotLiteral(str(error)) from error

    def _value(self, node: ast.expr) -> Any:
        self._steps += 1
        if self._steps > STEP_LIMIT:
            raise NotLiteral("too many steps")
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name)
            case ast.Call():
                return self._call(node)
            case ast.Subscript(value=box, slice=index):
                return self._value(box)[self._index(index)]
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.IfExp() | ast.Compare():
                return self._operation(node)
            case _:
                return self._collection(node)

    def _collection(self, node: ast.expr) -> Any:
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return tuple(self._spread(parts))
            case ast.Dict():
                return self._dict(node)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return _bounded(self._value(node.elt) for _ in self._loop(node.generators))
            case ast.DictComp(key=key, value=value):
                pairs = (
                    (self._value(key), self._value(value)) for _ in self._loop(node.generators)
                )
                return dict(_bounded(pairs))
            case _:
                raise NotLiteral(type(node).__name__)

    def _index(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Slice):
            return self._value(node)
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if each is None else self._value(each) for each in ends))

    def _name(self, name: str) -> Any:
        if name not in self._names:
            if name not in self._expressions:
                raise NotLiteral(name)
            return self.module_value(self._expressions[name])
        return self._names[name]

    def module_value(self, node: ast.expr) -> Any:
        """Evaluate an expression of the module level: loop variables in force do not count."""
        inner, self._names = self._names, dict(self._module_names)
        value = self._value(node)
        self._names = inner
        return value

    def _operation(self, node: ast.expr) -> Any:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self._value(left), self._value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return _OPERATORS[type(op)](self._value(operand))
            case ast.BoolOp():
                return self._choice(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test) else orelse)
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self._value(left), *(self._value(each) for each in others)]
                return all(
                    _OPERATORS[type(op)](one, two)
                    for op, (one, two) in zip(ops, itertools.pairwise(values), strict=True)
                )
            case _:
                raise NotLiteral(type(node).__name__)

    def _choice(self, node: ast.BoolOp) -> Any:
        result: Any = None
        for each in node.values:
            result = self._value(each)
            if bool(result) is isinstance(node.op, ast.Or):
                break
        return result

    def _binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Pow | ast.LShift):
            bits = left.bit_length() if isinstance(left, int) else 64
            if not isinstance(right, int) or max(bits, 1) * abs(right) > SIZE_LIMIT:
                raise NotLiteral("a power too large")
            return left**right if isinstance(op, ast.Pow) else left << right
        if isinstance(op, ast.Mult):
            for box, times in ((left, right), (right, left)):
                if isinstance(box, str | tuple) and (
                    not isinstance(times, int) or len(box) * times > SIZE_LIMIT
                ):
                    raise NotLiteral("a repetition too long")
            if not (_is_small(left) and _is_small(right)):
                raise NotLiteral("an integer too large")
        if isinstance(op, ast.Mod) and isinstance(left, str):
            raise NotLiteral("formatted text")
        result = _OPERATORS[type(op)](left, right)
        if isinstance(result, str | tuple) and len(result) > SIZE_LIMIT:
            raise NotLiteral("a list too long")
        return result

    def _spread(self, parts: list[ast.expr]) -> Iterator[Any]:
        for each in parts:
            if isinstance(each, ast.Starred):
                yield from self._value(each.value)
            else:
                yield self._value(each)

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                result |= self._value(value)
            else:
                result[self._value(key)] = self._value(value)
        return result

    def _loop(self, generators: list[ast.comprehension]) -> Iterator[None]:
        if not generators:
            yield None
            return
        first, *rest = generators
        before = dict(self._names)
        for item in self._value(first.iter):
            self.bind(first.target, item)
            if all(self._value(each) for each in first.ifs):
                yield from self._loop(rest)
        self._names = before

    def bind(self, target: ast.expr, value: Any) -> None:
        """Give a name, or several by unpacking, a value."""
        if isinstance(target, ast.Name):
            self._names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for one, part in zip(target.elts, tuple(value), strict=True):
                self.bind(one, part)
        else:
            raise NotLiteral("an unusual target")

    def _call(self, node: ast.Call) -> Any:
        if self._read_call is not None:
            found = self._read_call(node, self)
            if found is not None:
                return found
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            return self._value(node.func.value)
        function = _FUNCTIONS.get(self._imports.dotted(node.func) or "")
        if function is None:
            raise NotLiteral(ast.unparse(node.func))
        given: dict[str, Any] = {}
        for each in node.keywords:
            if each.arg is None:
                given |= self._value(each.value)
            else:
                given[each.arg] = self._value(each.value)
        result = function(*self._spread(node.args), **given)
        return result if isinstance(result, bool | int | float | str | dict) else _bounded(result)


def _bounded(values: Any) -> tuple[Any, ...]:
    found = tuple(itertools.islice(values, SIZE_LIMIT + 1))
    if len(found) > SIZE_LIMIT:
        raise NotLiteral("a list too long")
    return found


def _is_small(value: Any) -> bool:
    return not isinstance(value, int) or value.bit_length() <= 256  # noqa: PLR2004
