"""Refuse changes to what Triton or the caller owns: libraries, kernels, and classes of values."""

import ast
from collections import Counter
from collections.abc import Iterator

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "tampering"

_LOOKING_THROUGH = ("vars", "getattr", "type")
"""Builtins whose answer belongs to their first argument."""
_CHANGING = ("setattr", "delattr", "vars")
"""Builtins that change their first argument, or hand out a dictionary that does."""
_OWN = ("self", "cls")


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Report every change that the submitted kernel does not make itself.

    A changed module is changed for everyone in the process: clock, comparison and accounting.
    """
    allowed = Counter(words for words, _ in _changes(context.submitted))
    complaints = tuple(
        failed(NAME, Reason.HARNESS_TAMPERING, words, line=line)
        for words, line in _changes(context.candidate)
        if not allowed[words]
    )
    return complaints or (passed(NAME),)


def _changes(reading: Reading) -> Iterator[tuple[str, int]]:
    foreign = _foreign(reading.tree) | {each.name for each in reading.contents.jit_functions}
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            # Whatever form the statement has: an assignment, a loop, a `with`, a deletion.
            target: ast.expr | None = node
        else:
            target = _argument(node, _CHANGING)
        if target is None:
            continue
        root, is_class = _root(target)
        if root in foreign:
            name = reading.imports.dotted(target) or ast.unparse(target)
            yield f"changes {name}", target.lineno
        elif is_class and root not in _OWN:
            yield f"changes a class through {ast.unparse(target)}", target.lineno


def _argument(node: ast.AST, names: tuple[str, ...]) -> ast.expr | None:
    """Return the first argument of a call of one of the builtins; None for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        return node.args[0] if node.func.id in names else None
    return None


def _root(target: ast.expr) -> tuple[str, bool]:
    """Return the name at the bottom of a target, and whether the way leads through a class."""
    inner, is_class = target, False
    while True:
        if isinstance(inner, ast.Attribute):
            is_class |= inner.attr == "__class__"
            inner = inner.value
        elif isinstance(inner, ast.Subscript):
            inner = inner.value
        elif (argument := _argument(inner, _LOOKING_THROUGH)) is not None:
            is_class |= _argument(inner, ("type",)) is not None
            inner = argument
        else:
            return (inner.id if isinstance(inner, ast.Name) else ""), is_class


def _foreign(tree: ast.Module) -> set[str]:
    """Return the local names of what is imported, and other names that are given to it."""
    found = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    renamed = [
        (target.id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    grew = True
    while grew:
        new = {name for name, value in renamed if _chain_root(value) in found} - found
        found |= new
        grew = bool(new)
    return found


def _chain_root(value: ast.expr) -> str:
    """Return the first name of ``a.b.c``; empty when the value is anything else."""
    inner = value
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else ""
