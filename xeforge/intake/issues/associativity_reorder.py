"""Products in a row are multiplied in the dear order.

Looks for a library product whose left operand is itself a product, and whose right operand is a
vector, or a weight behind another weight. Misses chains inside kernels and orders that depend on
shapes. Source: ``(A B) v`` costs m*k*n multiplications, ``A (B v)`` only m*k + k*n; two weights
can be multiplied once.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import HostScope
from xeforge.source.host_flow import product_operands
from xeforge.source.host_flow import torch_call
from xeforge.source.weights import is_weight

NAME: Final = "associativity_reorder"
_VECTOR_MAKERS: Final = frozenset({"randn", "rand", "ones", "zeros", "empty"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each outer product."""
    found: dict[int, Issue] = {}
    vectors = _vectors(facts)
    for scope in facts.scopes:
        for node in scope.nodes:
            why = _why(facts, scope, node, vectors)
            if why and isinstance(node, ast.expr):
                advice = "multiply the small operands first"
                text = f"{ast.unparse(node)}: {why}"
                found[node.lineno] = slow(NAME, node.lineno, text, advice)
    return tuple(found[line] for line in sorted(found))


def _why(facts: FileFacts, scope: HostScope, node: ast.AST, vectors: frozenset[str]) -> str:
    outer = product_operands(node, facts.imports)
    if outer is None or not isinstance(node, ast.expr):
        return ""
    left, right = outer
    inner = product_operands(scope.value(left, node.lineno), facts.imports)
    if inner is None or _is_written(facts, scope, left):
        return ""
    is_mv = torch_call(node, facts.imports) == "mv" or (
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".mv")
    )
    text = ast.unparse(right)
    if is_mv or text.removeprefix("self.") in vectors or text.endswith((".unsqueeze(-1)",)):
        return "a product of matrices is made only to be multiplied by a vector"
    weights = facts.weights
    if is_weight(right, (), weights) and is_weight(inner[1], (), weights):
        is_own = is_weight(inner[0], (), weights)
        return "" if is_own else "two weights are applied one after the other"
    return ""


def _is_written(facts: FileFacts, scope: HostScope, node: ast.expr) -> bool:
    """Say whether a kernel changes the inner product before it is used."""
    name = ast.unparse(node)
    return any(
        ast.unparse(value) == name
        for launch in scope.launches
        for parameter, value in launch.arguments.items()
        if parameter in facts.touched(launch.kernel.name, "store", "atomic")
    )


def _vectors(facts: FileFacts) -> frozenset[str]:
    """Return the attributes that are made as parameters of one axis."""
    found = set()
    for node in ast.walk(facts.tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        target, made = node.targets[0], node.value
        inner = made.args[0] if made.args else None
        is_vector = (
            (
                torch_call(inner, facts.imports) in _VECTOR_MAKERS
                and isinstance(inner, ast.Call)
                and len(inner.args) == 1
                and not isinstance(inner.args[0], ast.Tuple | ast.List | ast.Starred)
            )
            if inner is not None
            else False
        )
        if isinstance(target, ast.Attribute) and is_vector and target.attr in facts.weights:
            found.add(target.attr)
    return frozenset(found)
