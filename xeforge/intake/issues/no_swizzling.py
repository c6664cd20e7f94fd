"""Tiles of a matrix product are visited row by row, so that the cache sees little reuse.

Looks for two tile numbers that are plain axes of the grid, or quotient and rest of one number.
Misses kernels whose tile numbers are changed in any other way, and attention. Source: Triton's
tutorial 03 (grouped order, L2 reuse).
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.contents import JitFunction
from xeforge.source.facts import FileFacts
from xeforge.source.imports import ImportTable
from xeforge.source.kernel_code import assignments
from xeforge.source.kernel_code import is_call

NAME: Final = "no_swizzling"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report product kernels whose two tile numbers are plain axes, or plain quotient and rest."""
    found = []
    for kernel in facts.contents.entry_kernels:
        line = _plain_order(facts, kernel) if kernel.has_dot else None
        if line is not None:
            found.append(
                Issue(
                    type=NAME,
                    severity=Severity.SPEED,
                    message=f"{kernel.name} visits its tiles row by row: neighbouring programs "
                    "share only one operand in the cache",
                    line=line,
                    remedy="number programs along one axis in groups of rows",
                )
            )
    return tuple(found)


def _plain_order(facts: FileFacts, kernel: JitFunction) -> int | None:
    """Return the line of the first tile number; None when the order is no plain one."""
    node, imports = facts.nodes[kernel.name], facts.imports
    if any(is_call(each, imports, "swizzle2d") for each in ast.walk(node)):
        return None
    products = [
        each
        for each in facts.products(kernel)
        if isinstance(each.factor, ast.Name) or _kind(each.factor, imports) is not None
    ]
    bound: dict[str, list[tuple[ast.expr, int]]] = {}
    for name, value, line in assignments(node):
        bound.setdefault(name, []).append((value, line))
    numbers: dict[str, tuple[ast.expr, int]] = {}
    for each in products:
        values = [(each.factor, each.line)]
        if isinstance(each.factor, ast.Name):
            values = bound.get(each.factor.id, [])
        if len(values) != 1:
            return None
        numbers[each.block] = values[0]
    kinds = [_kind(value, imports) for value, _ in numbers.values()]
    if len(numbers) < 2 or None in kinds or len(set(kinds)) < 2:  # noqa: PLR2004
        return None
    return min(line for _, line in numbers.values())


def _kind(value: ast.expr, imports: ImportTable) -> str | None:
    """Name the plain way a tile number is made; None for anything else."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="to")):
            return _kind(inner, imports)  # a cast to int64 changes nothing
        case ast.BinOp(left=ast.Name(), op=ast.FloorDiv() | ast.Mod() as op, right=right):
            is_count = isinstance(right, ast.Name) or is_call(right, imports, "cdiv")
            return type(op).__name__ if is_count else None
        case _:
            return ast.unparse(value) if is_call(value, imports, "program_id") else None
