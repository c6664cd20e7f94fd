"""A kernel file as a concrete syntax tree, with its kernels and launches already found.

Rewriting works on this tree, so that comments and formatting of everything untouched survive.
Reading for checks works on `xeforge.source.contents` instead.
"""

import dataclasses
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar
from typing import cast

import libcst as cst

LANGUAGE_NAMES = ("tl", "triton.language", "language")
"""How files call ``triton.language``."""

_PRINTER = cst.Module([])
_LAYOUT_FIELDS = (
    "whitespace",
    "leading_lines",
    "lines_after",
    "lpar",
    "rpar",
    "lbrac",
    "rbrac",
    "lbra",
    "rbra",
    "comma",
    "semicolon",
    "header",
    "footer",
    "equal",
    "trailing",
)


@lru_cache(maxsize=256)
def _child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (each.name for each in dataclasses.fields(kind))
    return tuple(name for name in names if not name.startswith(_LAYOUT_FIELDS))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the direct children that mean something, layout left out."""
    for name in _child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, list | tuple):
            yield from (each for each in value if isinstance(each, cst.CSTNode))


@lru_cache(maxsize=16384)
def walk(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """Return a node and all its descendants, parents first."""
    found = [node]
    for child in children(node):
        found.extend(walk(child))
    return tuple(found)


def code(node: cst.CSTNode) -> str:
    """Return the source text of a node, as written."""
    return _PRINTER.code_for_node(node)


def text(node: cst.CSTNode) -> str:
    """Return the source text of a node without white space, for comparisons."""
    return "".join(code(node).split())


def unparenthesized(node: cst.BaseExpression) -> str:
    """Return the text of an expression without white space and outer parentheses."""
    if getattr(node, "lpar", ()) and not isinstance(node, cst.Tuple | cst.GeneratorExp):
        return text(node.with_changes(lpar=(), rpar=()))
    return text(node)


def last_name(node: cst.CSTNode) -> str:
    """Return the last part of a dotted name, ``"jit"`` of ``triton.jit``; empty for others."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return ""


def language_call(node: cst.CSTNode) -> str:
    """Return ``"arange"`` for a call of ``tl.arange``, ``"math.exp"`` for ``tl.math.exp``.

    Empty for everything that is not a call into ``triton.language``.
    """
    if not isinstance(node, cst.Call):
        return ""
    name = _dotted(node.func)
    for alias in LANGUAGE_NAMES:
        if name.startswith(f"{alias}."):
            return name.removeprefix(f"{alias}.")
    return ""


def _dotted(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr.value}" if base else ""
    return ""


def integer(node: cst.CSTNode | None) -> int | None:
    """Return the value of an integer literal, or nothing."""
    return int(node.value, 0) if isinstance(node, cst.Integer) else None


def argument(call: cst.Call, position: int, keyword: str) -> cst.BaseExpression | None:
    """Return an argument of a call given by keyword or by position."""
    for each in call.args:
        if each.keyword is not None and each.keyword.value == keyword:
            return each.value
    plain = [each for each in call.args if each.keyword is None and not each.star]
    return plain[position].value if position < len(plain) else None


def names_in(node: cst.CSTNode) -> frozenset[str]:
    """Return all plain names an expression or statement mentions (attribute names left out)."""
    return frozenset(name.value for name in loaded_names(node))


def loaded_names(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the name nodes that stand for variables: no attribute names, no keywords."""
    if isinstance(node, cst.Name):
        yield node
        return
    for child in children(node):
        if isinstance(node, cst.Attribute) and child is node.attr:
            continue
        if isinstance(node, cst.Arg) and child is node.keyword:
            continue
        yield from loaded_names(child)


Node = TypeVar("Node", bound=cst.CSTNode)
Replacement = Callable[[cst.CSTNode], object]
"""Gets the node with its children already replaced, returns what stands in its place."""


class _Replace(cst.CSTTransformer):
    def __init__(self, changes: Mapping[cst.CSTNode, Replacement]) -> None:
        super().__init__()
        self._changes = changes

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> object:  # type: ignore[override]
        change = self._changes.get(original_node)
        return updated_node if change is None else change(updated_node)


def replace(root: Node, changes: Mapping[cst.CSTNode, Replacement]) -> Node:
    """Return a copy of a tree with some nodes (by identity) replaced or removed."""
    return cast("Node", root.visit(_Replace(changes)))


def removal(root: cst.CSTNode, statement: cst.CSTNode) -> Replacement:
    """Return the edit that takes a statement away; the last one of a block becomes ``pass``."""
    blocks = (each for each in walk(root) if isinstance(each, cst.IndentedBlock))
    is_last = any(len(each.body) == 1 and each.body[0] is statement for each in blocks)
    if is_last:
        return lambda _: cst.SimpleStatementLine([cst.Pass()])
    return lambda _: cst.RemoveFromParent()


@dataclass(frozen=True, slots=True, eq=False)
class Jit:
    """One ``@triton.jit`` function.

    Attributes:
        name: Of the function.
        node: Its definition.
        parameters: Names in order.
        constexprs: Parameters that are compile-time constants.
        defaults: Default values by parameter.
        autotune: Decorator call, if there is one.
        heuristics: Decorator calls.
    """

    name: str
    node: cst.FunctionDef
    parameters: tuple[str, ...]
    constexprs: frozenset[str]
    defaults: Mapping[str, cst.BaseExpression]
    autotune: cst.Call | None
    heuristics: tuple[cst.Call, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One ``kernel[grid](...)``.

    Attributes:
        kernel: Name of the jit function.
        call: The whole call.
        grid: Expression between the brackets.
        function: Innermost function around it; None at module level.
        owner: Class around that function, if any.
        arguments: Argument by parameter name; launch options such as ``num_warps`` included.
        is_complete: Whether every argument could be named (no ``*args``, no unknown ``**kwargs``).
    """

    kernel: str
    call: cst.Call
    grid: cst.BaseExpression
    function: cst.FunctionDef | None
    owner: cst.ClassDef | None
    arguments: Mapping[str, cst.BaseExpression]
    is_complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a function is defined.

    Attributes:
        node: The function.
        outer: Function around it, for nested ones.
        owner: Class around it, if any.
    """

    node: cst.FunctionDef
    outer: cst.FunctionDef | None
    owner: cst.ClassDef | None


def keyword_argument(name: str, value: int | cst.BaseExpression) -> cst.Arg:
    """Build ``name=value`` for a call, without spaces around the sign."""
    none = cst.SimpleWhitespace("")
    return cst.Arg(
        cst.Integer(str(value)) if isinstance(value, int) else value,
        keyword=cst.Name(name),
        equal=cst.AssignEqual(whitespace_before=none, whitespace_after=none),
    )


def closed(arguments: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Give every argument a comma, so that more can follow; existing layout is kept."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [
        each if isinstance(each.comma, cst.Comma) else each.with_changes(comma=comma)
        for each in arguments
    ]


def with_argument(call: cst.Call, added: cst.Arg) -> cst.Call:
    """Append an argument to a call; in a call of one argument per line it gets its own line."""
    if not call.args:
        return call.with_changes(args=[added])
    *before, last = call.args
    has_comma = isinstance(last.comma, cst.Comma)
    after = _space(last.comma) if has_comma else last.whitespace_after_arg
    if not isinstance(after, cst.ParenthesizedWhitespace):
        return call.with_changes(args=[*closed(call.args), added])
    inside = _space(before[-1].comma) if before else None
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if isinstance(inside, cst.ParenthesizedWhitespace):
        comma = cst.Comma(whitespace_after=after.with_changes(last_line=inside.last_line))
    end = cst.ParenthesizedWhitespace(indent=after.indent, last_line=after.last_line)
    last = last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))
    added = (
        added.with_changes(comma=cst.Comma(whitespace_after=end))
        if has_comma
        else added.with_changes(whitespace_after_arg=end)
    )
    return call.with_changes(args=[*before, last, added])


def _space(comma: cst.Comma | cst.MaybeSentinel) -> cst.BaseParenthesizableWhitespace | None:
    return comma.whitespace_after if isinstance(comma, cst.Comma) else None
