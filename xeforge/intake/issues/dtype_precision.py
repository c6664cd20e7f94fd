"""Operands are widened to float32 right before a matrix product."""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.contents import KernelContents
from xeforge.source.imports import ImportTable
from xeforge.source.imports import read_imports
from xeforge.source.kernel_code import assignments
from xeforge.source.kernel_code import is_call
from xeforge.source.kernel_code import kernel_nodes
from xeforge.source.scopes import FunctionNode

NAME: Final = "dtype_precision"


def detect(
    contents: KernelContents, tree: ast.Module, reference: KernelContents | None
) -> tuple[Issue, ...]:
    """Report products of loaded tiles that were widened; computed float32 values are left alone."""
    del reference
    imports = read_imports(tree)
    places = sorted(
        {
            place
            for node in kernel_nodes(tree, contents).values()
            for place in _places(node, imports)
        }
    )
    return tuple(
        Issue(
            type=NAME,
            severity=Severity.SPEED,
            message=f"{' and '.join(names)} widened to float32 before the product: the matrix "
            "units run at their float32 rate, a fraction of the 16-bit rate",
            line=line,
            remedy="multiply the tiles as loaded and accumulate in float32",
        )
        for line, names in places
    )


def _places(kernel: FunctionNode, imports: ImportTable) -> Iterator[tuple[int, tuple[str, ...]]]:
    bound = list(assignments(kernel))
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and is_call(node, imports, "dot"):
            operands = [
                *node.args[:2],
                *(each.value for each in node.keywords if each.arg in {"input", "other"}),
            ]
            names = tuple(
                ast.unparse(each)
                for each in operands
                if _is_widened(each, bound, node.lineno, imports)
            )
            if names:
                yield node.lineno, names


def _is_widened(
    node: ast.expr, bound: list[tuple[str, ast.expr, int]], line: int, imports: ImportTable
) -> bool:
    """Whether an operand is a loaded tile after a cast to float32."""
    node = _untransposed(node, imports)
    if isinstance(node, ast.Name):
        value = _latest(node.id, bound, line)
        return (
            value is not None
            and not isinstance(value, ast.Name)
            and _is_cast(_untransposed(value, imports), bound, line, imports)
        )
    return _is_cast(node, bound, line, imports)


def _is_cast(
    node: ast.expr, bound: list[tuple[str, ast.expr, int]], line: int, imports: ImportTable
) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if node.func.attr != "to" or not node.args or not imports.is_triton(node.args[0], "float32"):
        return False
    return _is_loaded(node.func.value, bound, line, imports)


def _is_loaded(
    node: ast.expr, bound: list[tuple[str, ast.expr, int]], line: int, imports: ImportTable
) -> bool:
    """Whether an expression is a tile as it came from memory."""
    node = _untransposed(node, imports)
    if isinstance(node, ast.Name):
        # ``a = a.to(...)`` hides the load behind its own name: look at every binding before.
        values = [value for name, value, at in bound if name == node.id and at <= line]
        return any(_is_load(_untransposed(each, imports), imports) for each in values)
    return _is_load(node, imports)


def _is_load(node: ast.expr, imports: ImportTable) -> bool:
    if is_call(node, imports, "load", "load_tensor_descriptor"):
        return True
    # Descriptors have the method: desc.load([...]).
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "load"
    )


def _untransposed(node: ast.expr, imports: ImportTable) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    if isinstance(node, ast.Call) and is_call(node, imports, "trans", "permute") and node.args:
        return node.args[0]
    return node


def _latest(name: str, bound: list[tuple[str, ast.expr, int]], line: int) -> ast.expr | None:
    found = [value for each, value, at in bound if each == name and at < line]
    return found[-1] if found else None
