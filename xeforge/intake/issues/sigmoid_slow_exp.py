"""A sigmoid is spelled with a natural exponential and a division.

Looks for ``1 / (1 + exp(-x))`` and ``y / (1 + exp(-x))``, also through names. Misses the form
``exp(x) / (1 + exp(x))`` and what is already spelled with ``exp2``. Source: the hardware computes
powers of two (PTX ISA ``ex2.approx``; Intel math function EXP), so ``exp`` costs a multiplication
more in each call.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import KernelBody

NAME: Final = "sigmoid_slow_exp"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each quotient, in helpers too."""
    found: dict[int, Issue] = {}
    for body in facts.bodies.values():
        for node, place in body.expressions:
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
                continue
            if _is_one_plus_exp(body, node.right, place.index):
                found[node.lineno] = slow(
                    NAME,
                    node.lineno,
                    f"{ast.unparse(node)} is a sigmoid by exp and division",
                    "use tl.sigmoid, or exp2 with the factor log2(e) folded into the argument",
                )
    return tuple(found[line] for line in sorted(found))


def _is_one_plus_exp(body: KernelBody, node: ast.expr, index: int) -> bool:
    node, index = body.value_of(node, index)
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        return False
    for one, other in ((node.left, node.right), (node.right, node.left)):
        is_one = isinstance(one, ast.Constant) and one.value == 1
        call, place = body.value_of(other, index)
        if is_one and isinstance(call, ast.Call) and body.imports.is_triton(call.func, "exp"):
            argument, _ = body.value_of(call.args[0], place) if call.args else (call, place)
            return _is_negated(argument)
    return False


def _is_negated(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.BinOp(left=ast.Constant(value=0 | 0.0), op=ast.Sub()):
            return True
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _is_negated(left) or _is_negated(right)
        case _:
            return False
