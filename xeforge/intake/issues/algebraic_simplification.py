"""Arithmetic in a kernel that mathematics removes.

Looks for times one, plus zero, to the power of one, a function of its inverse, the root of a
square, and quotients or products of exponentials. Misses anything that needs more than one rule,
and sums of indices. Source: identities of real numbers; compilers must not apply them to floats,
where roundings differ (LLVM language reference, fast-math flags).
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import KernelBody

NAME: Final = "algebraic_simplification"
_FLOATING: Final = frozenset({"exp()", "log()", "sqrt()", "dot()", "sum()", "rsqrt()", "sigmoid()"})
_INVERSE: Final = {"log": "exp", "exp": "log", "log2": "exp2", "exp2": "log2"}


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each expression, once a line."""
    found: dict[int, Issue] = {}
    for body in facts.bodies.values():
        for node, place in body.expressions:
            why = _why(body, node, place.index)
            if why:
                text = f"{ast.unparse(node)}: {why}"
                advice = "write the simpler expression"
                found.setdefault(node.lineno, slow(NAME, node.lineno, text, advice))
    return tuple(found[line] for line in sorted(found))


def _why(body: KernelBody, node: ast.expr, index: int) -> str:
    match node:
        case ast.BinOp():
            why = _of_operator(body, node)
            return "" if why and _is_index(body, node, index) else why
        case ast.UnaryOp(op=ast.USub(), operand=ast.UnaryOp(op=ast.USub())):
            return "two signs cancel"
        case ast.Call(args=[first, *_]):
            return _of_function(body, node, first, index)
        case _:
            return ""


def _is_index(body: KernelBody, node: ast.BinOp, index: int) -> bool:
    """Say whether an expression computes an address or an index: the compiler folds those."""
    if pointer_of(body, node, index) is not None:
        return True
    sides = (node.left, node.right)
    has_whole = any(isinstance(e, ast.Constant) and type(e.value) is int for e in sides)
    if has_whole and any(isinstance(each, ast.BinOp) for each in sides):
        return True
    made_of = {name for each in sides for name in body.sources(each, index)}
    return has_whole and "load()" not in made_of and not made_of & _FLOATING


def _of_operator(  # noqa: PLR0911 - one line per rule
    body: KernelBody, node: ast.BinOp
) -> str:
    left, right = node.left, node.right
    match node.op:
        case ast.Mult() | ast.Div() if _is(right, 1) or (
            isinstance(node.op, ast.Mult) and _is(left, 1)
        ):
            return "a factor of one changes nothing"
        case ast.Add() | ast.Sub() if _is(right, 0) or (
            isinstance(node.op, ast.Add) and _is(left, 0)
        ):
            return "adding zero changes nothing"
        case ast.Pow() if _is(right, 1):
            return "a power of one changes nothing"
        case ast.Mult() | ast.Div() if _function(body, left) == _function(body, right) == "exp":
            sign = "sum" if isinstance(node.op, ast.Mult) else "difference"
            return f"one exponential of the {sign} does"
        case ast.Mult() if _function(body, left) == "sqrt" and _same(left, right):
            return "the square of a root is its argument"
        case ast.Sub() | ast.Div() if isinstance(left, ast.Name) and _same(left, right):
            return "the result does not depend on the value"
        case _:
            return ""


def _of_function(body: KernelBody, node: ast.Call, first: ast.expr, index: int) -> str:
    name = _function(body, node)
    inner, _ = body.value_of(first, index)
    if name in _INVERSE and _function(body, inner) == _INVERSE[name]:
        return f"{name} takes {_INVERSE[name]} back"
    if name == "sqrt" and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
        return "the root of a square is the magnitude" if _same(inner.left, inner.right) else ""
    if name in {"maximum", "minimum"} and len(node.args) > 1 and _same(first, node.args[1]):
        return "both sides are the same"
    if name == "where" and len(node.args) == 3 and _same(node.args[1], node.args[2]):  # noqa: PLR2004
        return "both choices are the same"
    return ""


def _function(body: KernelBody, node: ast.expr) -> str:
    """Return the name of the function of Triton's language that an expression calls."""
    if not isinstance(node, ast.Call):
        return ""
    name = (body.imports.dotted(node.func) or "").rpartition(".")[2]
    return name if body.imports.is_triton(node.func, name) else ""


def _is(node: ast.expr, number: int) -> bool:
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return is_number and isinstance(node, ast.Constant) and node.value == number


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)
