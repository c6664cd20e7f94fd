"""Predicates over named facts, as knowledge files write them: a syntax tree, never ``eval``.

Truth has three values. What rests on a fact that is not known is not known either, unless the rest
decides: ``num_warps <= 8 and has_dot`` is false for a kernel without a product whatever its warps.
"""

import ast
import operator
import warnings
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from difflib import get_close_matches
from typing import Final
from typing import Literal
from typing import TypeAlias

Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | tuple[int | float, ...] | tuple[str, ...] | None
"""A fact; None: not known."""
Kind = Literal["truth", "number", "text", "numbers", "texts"]

LENGTH_LIMIT_CHARACTERS: Final = 600
"""Longer predicates are refused: two short ones are read more easily."""
NODE_LIMIT: Final = 200
"""Most nodes of one predicate's tree."""

_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Final[Mapping[type[ast.cmpop], Callable[[float, float], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: Final = {"power_of_two": 1, "min": 2, "max": 2, "known": 1}
_COLLECTIONS: Final[Mapping[Kind, Kind]] = {"numbers": "number", "texts": "text"}
_LANGUAGE: Final = "names, numbers, texts, and or not, comparisons, in, + - * / // %, " + ", ".join(
    f"{name}(...)" for name in sorted(_FUNCTIONS)
)


class BadPredicate(ValueError):
    """A text is no predicate; the message says what is wrong and what may be written."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A checked predicate.

    Attributes:
        text: As written.
        names: Facts it asks for.
        numbers, texts: Constants it compares with; where its truth changes.
    """

    text: str
    names: frozenset[str]
    numbers: frozenset[float]
    texts: frozenset[str]
    _tree: ast.expr = field(compare=False, repr=False)

    def holds(self, facts: Mapping[str, Value]) -> bool | None:
        """Say whether it is true; None: facts that would decide are not known."""
        found = _value(self._tree, facts)
        return None if found is None else bool(found)

    def parts(self, facts: Mapping[str, Value], *, wanted: bool | None) -> tuple[str, ...]:
        """Return the terms of its outermost ``and`` that have a truth, as text."""
        terms = [self._tree]
        if isinstance(self._tree, ast.BoolOp) and isinstance(self._tree.op, ast.And):
            terms = self._tree.values
        return tuple(ast.unparse(each) for each in terms if _value(each, facts) is wanted)

    def missing(self, facts: Mapping[str, Value]) -> tuple[str, ...]:
        """Return the names without a value, sorted."""
        return tuple(sorted(name for name in self.names if facts.get(name) is None))


def read_predicate(text: str, kinds: Mapping[str, Kind]) -> Predicate:
    """Check a predicate against the facts that there are.

    Args:
        text: The predicate; empty means always true.
        kinds: What kind of value each name has.

    Raises:
        BadPredicate: Not in the language, an unknown name, or values that cannot be compared.
    """
    if len(text) > LENGTH_LIMIT_CHARACTERS:
        raise BadPredicate(f"it has {len(text)} characters, more than {LENGTH_LIMIT_CHARACTERS}")
    tree = _parsed(text)
    nodes = list(ast.walk(tree))
    if len(nodes) > NODE_LIMIT:
        raise BadPredicate(f"it has more than {NODE_LIMIT} parts; write two predicates")
    try:
        kind = _kind(tree, kinds)
    except RecursionError:
        raise BadPredicate("it is nested too deeply") from None
    if kind != "truth":
        raise BadPredicate(f"it is a {kind}, not a claim; compare it with something")
    constants = [each.value for each in nodes if isinstance(each, ast.Constant)]
    return Predicate(
        text=text,
        names=frozenset(_names(tree)),
        numbers=frozenset(
            each
            for each in constants
            if isinstance(each, int | float) and not isinstance(each, bool)
        ),
        texts=frozenset(each for each in constants if isinstance(each, str)),
        _tree=tree,
    )


def _parsed(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python would print its doubts about some literals
            return ast.parse(" ".join(text.split()) or "True", mode="eval").body
    except SyntaxError as error:
        raise BadPredicate(f"{error.msg}; it may hold {_LANGUAGE}") from None
    except (RecursionError, MemoryError, ValueError):
        raise BadPredicate("it is nested too deeply, or holds odd characters") from None


def _names(node: ast.expr) -> Iterator[str]:
    if (name := _name(node)) is not None:
        yield name
        return
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr):
            skipped = isinstance(node, ast.Call) and each is node.func
            yield from () if skipped else _names(each)


def _name(node: ast.expr) -> str | None:
    """Return ``"num_warps"`` or ``"device.vendor"`` for a name or a dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _kind(node: ast.expr, kinds: Mapping[str, Kind]) -> Kind:  # noqa: C901, PLR0911, PLR0912 - one per node
    """Return the kind of an expression; refuse what is outside the language."""
    if (name := _name(node)) is not None:
        if name not in kinds:
            near = get_close_matches(name, kinds, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise BadPredicate(f"no fact is called {name!r}{hint}")
        return kinds[name]
    match node:
        case ast.Constant(value=bool()):
            return "truth"
        case ast.Constant(value=int() | float()):
            return "number"
        case ast.Constant(value=str()):
            return "text"
        case ast.Tuple(elts=[first, *_] as parts) | ast.List(elts=[first, *_] as parts):
            return _kind_of_list(first, parts, kinds)
        case ast.BoolOp(values=values):
            for each in values:
                _expect(each, "truth", kinds)
            return "truth"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _expect(operand, "truth", kinds)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _expect(operand, "number", kinds)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            _expect(left, "number", kinds)
            return _expect(right, "number", kinds)
        case ast.Compare():
            return _kind_of_comparison(node, kinds)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _kind_of_call(name, args, kinds)
    raise BadPredicate(f"{ast.unparse(node)[:60]!r} is not allowed; it may hold {_LANGUAGE}")


def _kind_of_list(first: ast.expr, parts: list[ast.expr], kinds: Mapping[str, Kind]) -> Kind:
    kind = _kind(first, kinds)
    for each in parts:
        _expect(each, kind, kinds)
    if kind not in ("number", "text"):
        raise BadPredicate("a list holds numbers or texts")
    return "numbers" if kind == "number" else "texts"


def _kind_of_call(name: str, args: list[ast.expr], kinds: Mapping[str, Kind]) -> Kind:
    if len(args) != _FUNCTIONS[name]:
        raise BadPredicate(f"{name} takes {_FUNCTIONS[name]} argument(s), not {len(args)}")
    if name == "known":
        _kind(args[0], kinds)
        return "truth"
    for each in args:
        _expect(each, "number", kinds)
    return "truth" if name == "power_of_two" else "number"


def _expect(node: ast.expr, kind: Kind, kinds: Mapping[str, Kind]) -> Kind:
    found = _kind(node, kinds)
    if found != kind:
        raise BadPredicate(f"{ast.unparse(node)!r} is a {found} where a {kind} is needed")
    return kind


def _kind_of_comparison(node: ast.Compare, kinds: Mapping[str, Kind]) -> Kind:
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.In | ast.NotIn):
            box = _kind(right, kinds)
            if box not in _COLLECTIONS:
                raise BadPredicate(f"{ast.unparse(right)!r} is no list to look in")
            _expect(left, _COLLECTIONS[box], kinds)
        elif type(op) in _ORDER:
            _expect(left, "number", kinds)
            _expect(right, "number", kinds)
        elif isinstance(op, ast.Eq | ast.NotEq):
            _expect(right, _kind(left, kinds), kinds)
        else:
            raise BadPredicate(f"{ast.unparse(node)!r}: 'is' compares no values; write ==")
        left = right
    return "truth"


def _value(node: ast.expr, facts: Mapping[str, Value]) -> Value:  # noqa: C901, PLR0911 - one per node
    """Return the value of a checked expression; None: not known."""
    if (name := _name(node)) is not None:
        return facts.get(name)
    match node:
        case ast.Constant(value=value):
            return value  # type: ignore[return-value] # other constants were refused
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_value(each, facts) for each in parts)  # type: ignore[return-value]
        case ast.BoolOp(op=op, values=values):
            return _junction(values, facts, decides=isinstance(op, ast.Or))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = _value(operand, facts)
            return None if found is None else not found
        case ast.UnaryOp(operand=operand):
            found = _value(operand, facts)
            return None if found is None else -found  # type: ignore[operator]
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(_value(left, facts), op, _value(right, facts))
        case ast.Compare():
            return _compared(node, facts)
        case ast.Call(func=ast.Name(id="known"), args=[inner]):
            return _value(inner, facts) is not None
        case ast.Call(func=ast.Name(id=name), args=args):
            return _called(name, [_value(each, facts) for each in args])
    raise AssertionError(ast.dump(node))


def _junction(values: list[ast.expr], facts: Mapping[str, Value], *, decides: bool) -> bool | None:
    """Evaluate ``or`` (true decides) or ``and`` (false decides)."""
    is_unknown = False
    for each in values:
        found = _value(each, facts)
        if found is None:
            is_unknown = True
        elif bool(found) is decides:
            return decides
    return None if is_unknown else not decides


def _computed(left: Value, op: ast.operator, right: Value) -> Value:
    if left is None or right is None:
        return None
    try:
        return _ARITHMETIC[type(op)](left, right)  # type: ignore[arg-type] # kinds were checked
    except (ZeroDivisionError, OverflowError):
        return None


def _called(name: str, values: list[Value]) -> Value:
    numbers = [each for each in values if isinstance(each, int | float)]
    if len(numbers) != len(values):
        return None
    if name == "power_of_two":
        whole = int(numbers[0])
        return whole == numbers[0] and whole > 0 and whole & (whole - 1) == 0
    return min(numbers) if name == "min" else max(numbers)


def _compared(node: ast.Compare, facts: Mapping[str, Value]) -> bool | None:
    """Evaluate a chain of comparisons; one that is false decides."""
    is_unknown = False
    left = _value(node.left, facts)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, facts)
        if left is None or right is None:
            is_unknown = True
        elif not _is_so(left, op, right):
            return False
        left = right
    return None if is_unknown else True


def _is_so(left: Value, op: ast.cmpop, right: Value) -> bool:
    match op:
        case ast.In():
            return left in right  # type: ignore[operator] # kinds were checked
        case ast.NotIn():
            return left not in right  # type: ignore[operator]
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
    return _ORDER[type(op)](left, right)  # type: ignore[arg-type]
