"""A matrix product is only needed in part.

Looks for sums and means of a product (on the host, or in a kernel over an accumulator that holds
nothing but products), and for products with a diagonal or an identity. Misses products of which
only a slice is read. Source: ``sum_n (A B)[m, n] = (A (B 1))[m]``: a matrix times a vector;
``diag(d) B`` scales rows.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import HostScope
from xeforge.source.host_flow import product_operands
from xeforge.source.host_flow import torch_call
from xeforge.source.kernel_body import KernelBody

NAME: Final = "gemm_simplification"
_SPARSE: Final = frozenset({"diag", "diag_embed", "eye"})
_SUMS: Final = frozenset({"sum", "mean"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report sums and products of the host, then sums in kernels."""
    found = [each for scope in facts.scopes for each in _of_host(facts, scope)]
    for body in facts.bodies.values():
        found += _of_kernel(body)
    return tuple(found)


def _of_host(facts: FileFacts, scope: HostScope) -> Iterator[Issue]:
    for node in scope.nodes:
        if not isinstance(node, ast.expr):
            continue
        summed = _summed(facts, node)
        if summed is not None:
            summed = scope.value(summed, node.lineno)
            if product_operands(summed, facts.imports):
                text = f"{ast.unparse(node)} sums a product of matrices"
                yield slow(NAME, node.lineno, text, "sum the operand first, then multiply")
        operands = product_operands(node, facts.imports)
        for each in operands or ():
            name = torch_call(scope.value(each, node.lineno), facts.imports)
            if name in _SPARSE:
                text = f"{ast.unparse(node)} multiplies by {name}, which is zero off the diagonal"
                yield slow(NAME, node.lineno, text, "scale rows or columns instead")


def _summed(facts: FileFacts, node: ast.expr) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    if torch_call(node, facts.imports) in _SUMS and node.args:
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SUMS:
        return node.func.value if facts.imports.dotted(node.func.value) != "torch" else None
    return None


def _of_kernel(body: KernelBody) -> Iterator[Issue]:
    for call in body.named("sum"):
        node, index = call.first, call.place.index
        if isinstance(node, ast.Name):
            bound = [each for each in body.by_name.get(node.id, ()) if each.place.index < index]
            is_product = any(each.is_step or _has_dot(body, each.value) for each in bound)
            if not is_product or not all(_is_plain(body, e.value, node.id) for e in bound):
                continue
        elif not (isinstance(node, ast.Call) and body.imports.is_triton(node.func, "dot")):
            continue
        yield slow(
            NAME,
            call.line,
            f"{ast.unparse(call.node)} sums a product of matrices",
            "sum the operand first and multiply by the sums",
        )


def _has_dot(body: KernelBody, node: ast.expr | None) -> bool:
    return node is not None and any(
        isinstance(each, ast.Call) and body.imports.is_triton(each.func, "dot")
        for each in ast.walk(node)
    )


def _is_plain(body: KernelBody, node: ast.expr | None, name: str) -> bool:
    """Say whether a value is zero, a product, or the name itself plus a product."""
    match node:
        case ast.Call() if body.imports.is_triton(node.func, "zeros", "dot"):
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = (left, right)
            carried = [each for each in sides if isinstance(each, ast.Name) and each.id == name]
            return len(carried) == 1 and any(_has_dot(body, each) for each in sides)
        case _:
            return False
