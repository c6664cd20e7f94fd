"""What the names of the module level stand for, as far as literals go."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xeforge.source.declarations import Constant
from xeforge.source.imports import ImportTable
from xeforge.source.literals import CallReader
from xeforge.source.literals import LiteralReader
from xeforge.source.literals import NotLiteral


@dataclass(frozen=True, slots=True)
class ModuleValues:
    """Names of the module level.

    Attributes:
        literals: Values of names bound once, to something literal (mappings included).
        expressions: Bound expression of every name bound exactly once.
        returned: Returned expression of functions without parameters whose body is one return.
    """

    literals: Mapping[str, Any]
    expressions: Mapping[str, ast.expr]
    returned: Mapping[str, ast.expr]

    def reader(self, imports: ImportTable, *, read_call: CallReader | None = None) -> LiteralReader:
        """Return an evaluator that knows the literals, and other names by their expression."""
        return LiteralReader(
            self.literals, imports, read_call=read_call, expressions=self.expressions
        )

    @property
    def constants(self) -> dict[str, Constant]:
        """The literals that are scalars or tuples of them."""
        return {name: value for name, value in self.literals.items() if _is_constant(value)}


def read_values(tree: ast.Module, imports: ImportTable) -> ModuleValues:
    """Read the assignments of the module level.

    A name that is bound twice, in a branch, or changed in place has no known value.
    """
    bound: dict[str, list[ast.expr | None]] = {}
    for node, is_certain in _statements(tree.body, is_certain=True):
        for name, value in _bindings(node):
            bound.setdefault(name, []).append(value if is_certain else None)
    for name in _changed_in_place(tree):
        bound.setdefault(name, []).append(None)
    expressions = {
        name: found[0] for name, found in bound.items() if len(found) == 1 and found[0] is not None
    }
    literals: dict[str, Any] = {}
    for name, expression in expressions.items():
        try:
            literals[name] = LiteralReader(literals, imports).value(expression)
        except NotLiteral:
            continue
    return ModuleValues(literals, expressions, dict(_returned(tree)))


def _statements(body: list[ast.stmt], *, is_certain: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements of the module level; those in branches and loops are not certain."""
    for node in body:
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            continue
        yield node, is_certain
        for inner in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.With):
                yield from _statements(getattr(node, inner, []), is_certain=False)
        for handler in getattr(node, "handlers", []):
            yield from _statements(handler.body, is_certain=False)


def _bindings(node: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, node.value)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        if node.value is not None:
            yield node.target.id, node.value
    elif isinstance(node, ast.AugAssign | ast.For):
        for each in ast.walk(node.target):
            if isinstance(each, ast.Name):
                yield each.id, None


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        if len(parts) == len(target.elts) and not any(isinstance(p, ast.Starred) for p in parts):
            for one, part in zip(target.elts, parts, strict=True):
                yield from _unpacked(one, part)
        else:
            for each in ast.walk(target):
                if isinstance(each, ast.Name):
                    yield each.id, None


def _changed_in_place(tree: ast.Module) -> Iterator[str]:
    """Yield names that a statement anywhere appends to, writes an item of, or declares global."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and node.func.attr in {"append", "extend", "update"}:
                yield owner.id
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and isinstance(node.value, ast.Name)
        ):
            yield node.value.id


def _returned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            body = [each for each in node.body if not _is_docstring(each)]
            takes_none = not (arguments.args or arguments.posonlyargs or arguments.kwonlyargs)
            if takes_none and len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value:
                yield node.name, body[0].value


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_constant(each) for each in value)
    return value is None or isinstance(value, bool | int | float | str)
