"""Walks functions with their qualified names, and answers what local names stand for."""

import ast
from collections.abc import Iterator
from typing import TypeAlias

from xeforge.source.declarations import Parameter
from xeforge.source.declarations import ParameterKind
from xeforge.source.imports import ImportTable

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
MODULE = "<module>"


def functions_in(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, FunctionNode]]:
    """Yield every function of every scope with its qualified name, outer before inner."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FunctionNode):
            yield f"{prefix}{node.name}", node
            yield from functions_in(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions_in(node, f"{prefix}{node.name}.")
        elif not isinstance(node, ast.expr):  # an expression defines no function with a name
            yield from functions_in(node, prefix)


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of functions and classes inside it."""
    waiting = [*ast.iter_child_nodes(scope)][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FunctionNode | ast.ClassDef):
            waiting += [*ast.iter_child_nodes(node)][::-1]


def bindings_of(scope: ast.AST) -> dict[str, list[ast.expr | FunctionNode]]:
    """Return what each local name is bound to: expressions and local functions, in order."""
    found: dict[str, list[ast.expr | FunctionNode]] = {}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if isinstance(node.target, ast.Name) and node.value is not None:
                found.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, FunctionNode):
            found.setdefault(node.name, []).append(node)
    return found


def parameters_of(
    node: FunctionNode, imports: ImportTable, *, drop_first: bool = False
) -> tuple[Parameter, ...]:
    """Return a function's parameters in order.

    Args:
        node: The function.
        imports: Tells which annotations mean a compile-time constant.
        drop_first: Leave out ``self``.
    """
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    found = [
        _parameter(each, default, imports, "positional")
        for each, default in zip(plain, [*missing, *arguments.defaults], strict=True)
    ]
    found = found[1:] if drop_first else found
    if arguments.vararg is not None:
        found.append(_parameter(arguments.vararg, None, imports, "var_positional"))
    found += [
        _parameter(each, default, imports, "keyword_only")
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg is not None:
        found.append(_parameter(arguments.kwarg, None, imports, "var_keyword"))
    return tuple(found)


def _parameter(
    node: ast.arg, default: ast.expr | None, imports: ImportTable, kind: ParameterKind
) -> Parameter:
    return Parameter(
        name=node.arg,
        is_constexpr=_is_constexpr(node.annotation, imports),
        default=None if default is None else ast.unparse(default),
        kind=kind,
    )


def _is_constexpr(annotation: ast.expr | None, imports: ImportTable) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.split("[")[0].split(".")[-1].strip() == "constexpr"
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return imports.is_triton(annotation, "constexpr")
