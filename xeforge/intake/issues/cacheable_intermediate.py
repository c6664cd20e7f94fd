"""``forward`` recomputes what depends on weights, constructor arguments or sizes alone.

Looks for position tables and masks of constants (``arange``, ``tril``, ``eye``, ...) and for
products and functions of weights only. Misses what spreads over several statements, and values
that a training step changes between calls. Copies, casts and transpositions of weights are
``repack_in_forward``. Source: each such call launches kernels of its own on every call.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import HostScope
from xeforge.source.host_flow import torch_call
from xeforge.source.weights import is_weight

NAME: Final = "cacheable_intermediate"
_TABLES: Final = frozenset(
    {"arange", "linspace", "logspace", "eye", "tril", "triu", "meshgrid", "hann_window"}
)
_FUNCTIONS: Final = frozenset(
    {
        *("matmul", "mm", "bmm", "exp", "softmax", "sigmoid", "tanh", "softplus", "normalize"),
        *("norm", "sum", "mean", "abs", "sqrt", "rsqrt", "log", "outer", "einsum", "kron"),
    }
)
_WIDENED: Final = frozenset({"t", "T", "mT", "transpose", "detach", "view", "float"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the outermost such expression of each statement."""
    advice = "compute it in the constructor (register_buffer), or keep it per size"
    found = [
        slow(NAME, node.lineno, f"{ast.unparse(node)} gives the same on every call", advice)
        for scope in facts.scopes
        for node in _outermost(facts, scope)
    ]
    return tuple(sorted(found, key=lambda each: each.line or 0))


def _outermost(facts: FileFacts, scope: HostScope) -> Iterator[ast.expr]:
    inner: set[ast.AST] = set()
    for node in scope.nodes:  # outer nodes come before what is inside them
        if node in inner or not isinstance(node, ast.expr):
            continue
        is_table = torch_call(node, facts.imports) in _TABLES and not _is_of_data(
            facts, scope, node
        )
        if is_table or _is_of_weights(facts, scope, node):
            inner |= set(ast.walk(node))
            yield node


def _is_of_data(facts: FileFacts, scope: HostScope, node: ast.expr) -> bool:
    """Say whether a table is made from the contents of a tensor: ``tril`` of an input."""
    if any(_is_fetched(scope, each) for each in ast.walk(node) if isinstance(each, ast.expr)):
        return True
    if torch_call(node, facts.imports) not in {"tril", "triu", "meshgrid"}:
        return False
    first = node.args[0] if isinstance(node, ast.Call) and node.args else node
    made = scope.value(first, node.lineno)
    return torch_call(made, facts.imports) not in {*_TABLES, "ones", "full", "zeros"}


def _is_fetched(scope: HostScope, node: ast.expr) -> bool:
    """Say whether a size was read from a tensor: ``n.item()``, or a name for it."""
    value = scope.value(node, node.lineno) if isinstance(node, ast.Name) else node
    return any(
        isinstance(each, ast.Attribute) and each.attr in {"item", "tolist", "max", "nonzero"}
        for each in ast.walk(value)
    )


def _is_of_weights(facts: FileFacts, scope: HostScope, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
    elif torch_call(node, facts.imports) in _FUNCTIONS and isinstance(node, ast.Call):
        operands = [each for each in node.args if not isinstance(each, ast.Constant)]
    else:
        return False
    kinds = [_kind(facts, scope, each) for each in operands]
    return "weight" in kinds and set(kinds) <= {"weight", "constant"}


def _kind(facts: FileFacts, scope: HostScope, node: ast.expr) -> str:
    node = scope.value(node, node.lineno)
    while isinstance(node, ast.Call | ast.Attribute):
        inner = node.func if isinstance(node, ast.Call) else node
        if not (isinstance(inner, ast.Attribute) and inner.attr in _WIDENED):
            break
        node = inner.value
    if isinstance(node, ast.Constant):
        return "constant"
    if isinstance(node, ast.UnaryOp):
        return _kind(facts, scope, node.operand)
    if is_weight(node, (), facts.weights):
        return "weight"
    return "weight" if _is_of_weights(facts, scope, node) else "other"
